"""Training a DIET, as events: intents, entities and masked words together (Bunk et al. 2020, §3 and §4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from minibert import checkpoint
from minibert.config import check_positive
from minibert.diet.dense import DenseFeatures
from minibert.diet.model import Diet, DietConfig
from minibert.diet.predictor import DietPredictor, WordTokenizer
from minibert.diet.rows import BalancedBatches, batch_sizes, num_batches
from minibert.diet.sparse import LONGEST, SparseFeatures
from minibert.finetune.evaluation import predict_watched
from minibert.tasks import TASKS, TaskData
from minibert.tasks.data import TaskDataError
from minibert.train import Event, Optimization, Preparing
from minibert.training.precision import best_device
from minibert.training.train_and_evaluate import train_and_evaluate


def adam_optimization() -> Optimization:
    """Adam at 1e-3 (§4.2), here decaying to zero."""
    return Optimization(learning_rate=1e-3, warmup=0.0, weight_decay=0.0, epsilon=1e-8, clip=10.0)


@dataclass(frozen=True)
class DietSettings:
    """batch_first, batch_last: batch size of the first and of the last epoch · evaluate_every: steps between two
    evaluations, 0 for about twelve in all · sizes: fields of DietConfig to change."""

    features: str = "both"
    mask_loss: bool = True
    epochs: int = 20
    batch_first: int = 64
    batch_last: int = 256
    longest: int = LONGEST
    sizes: Mapping[str, Any] = field(default_factory=dict)
    evaluate_every: int = 0
    steps: int = 0  # computed from the epochs
    optimization: Optimization = field(default_factory=adam_optimization)
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "epochs", "batch_first", "batch_last", "longest")


def train_diet(
    settings: DietSettings,
    encoder: str | Path | None,
    train: TaskData,
    dev: TaskData | None = None,
    *,
    probe_inputs: Sequence[Any] = (),
    mailbox: Callable[[], list] = list,
    out: str | Path | None = None,
    linked: str | None = None,
) -> Iterator[Event]:
    """Yields the events of the run; on `dev` it measures the metrics of the task `intent`.

    encoder: a checkpoint whose frozen vectors are the dense features; unused if the features are sparse · probe_inputs:
    requests predicted at every evaluation (`Sample`); a list in the mailbox replaces them · out: where to save at the
    end · linked: `encoder` of `DietPredictor.save`. Raises ValueError for unusable settings or data.
    """
    if len(train.labels) < 2:
        raise TaskDataError(f"{train.name}: all requests have one intent; there is nothing to tell apart")
    if settings.features == "sparse":
        encoder = None
    elif encoder is None:
        raise ValueError(f"the features {settings.features!r} need an encoder")
    if out is not None:
        checkpoint.make_ready(Path(out))
    task = TASKS["intent"]
    names = task.labels(train)
    torch.manual_seed(settings.seed)
    dense = None
    if encoder is not None:
        yield Preparing("words")
        dense = DenseFeatures.from_directory(encoder)
    sparse = None
    if settings.features != "dense":
        sparse = SparseFeatures.fit((example.words for example in train.examples), settings.longest)
    sizes = {"features": settings.features, "mask_loss": settings.mask_loss, "dense_size": dense.size if dense else 0}
    model = Diet(DietConfig(**{**sizes, **settings.sizes}), len(sparse or ()), *map(len, names.values()))
    predictor = DietPredictor(
        model.to(best_device()), dense.tokenizer if dense else WordTokenizer(), names=names, sparse=sparse, dense=dense
    )
    rows = predictor.features(train.examples)  # the encoder runs once per request
    dev_rows = predictor.features(dev.examples) if dev is not None else []
    batches = batch_sizes(settings.batch_first, settings.batch_last, settings.epochs)
    steps = num_batches(len(rows), batches)
    every = settings.evaluate_every or max(1, round(steps / 12))
    settings = replace(settings, steps=steps, evaluate_every=every)

    def measure() -> dict[str, float]:
        if dev is None:
            return {}
        predictions, loss = predictor.answers(dev.examples, dev_rows)
        return {**task.score(predictions, dev.examples), "loss": loss}

    yield from train_and_evaluate(
        model,
        BalancedBatches(rows, batches, settings.seed),
        settings,
        measure,
        lambda texts: [predict_watched(predictor, text) for text in texts],
        probe_inputs=probe_inputs,
        mailbox=mailbox,
        facts={"documents": len(rows), "features": len(sparse or ()), "intents": len(names["intents"])},
        report_every=max(1, min(10, every)),
        losses_of=lambda output, part, whole: output.losses,
        save=lambda folder: predictor.save(folder, torch.float16, linked),
        out=out,
    )
