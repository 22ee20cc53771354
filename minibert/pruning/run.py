"""One run: cut parts of a trained model, then train what is left for a few steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from minibert import checkpoint
from minibert.finetune.evaluation import evaluate
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import Evaluator, TrainingRows, learn, started
from minibert.finetune.settings import FinetuneSettings
from minibert.inside.costs.cost import measure
from minibert.pruning import magnitude
from minibert.pruning.cut import cut
from minibert.pruning.importance import Importance, batches_of, importance, losses_without_layers
from minibert.pruning.keep import KINDS, Keep, least_important, normalised, sizes_of
from minibert.tasks import TaskData
from minibert.tasks.sampling import spread
from minibert.train import Event, Preparing
from minibert.training.precision import best_device

IMPORTANCE_TEXTS = 256  # training texts to measure importance on
TIMED_TEXTS = 30  # dev texts to time, one by one


@dataclass(frozen=True)
class Pruning:
    """what: one of KINDS · share: fraction of all of them to cut, the least important first · heads: (layer, head) from
    0, further heads to cut, chosen by hand."""

    what: str = "heads"
    share: float = 0.5
    heads: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if self.what not in KINDS:
            raise ValueError(f"what is cut away is one of {', '.join(KINDS)}, not {self.what!r}")
        if not 0 <= self.share <= 1:
            raise ValueError(f"a share is from 0 to 1, not {self.share}")
        if self.heads and self.what == "weights":
            raise ValueError("heads are cut away, or weights set to 0: not both in one run")


@dataclass(frozen=True)
class Cut(Event):
    """The cut is done. before, after: metrics on the dev data, parameters, milliseconds per text, megabytes of the file
    and compressed · heads, neurons: how many each layer has left."""

    before: dict[str, float]
    after: dict[str, float]
    heads: list[int] = field(default_factory=list)
    neurons: list[int] = field(default_factory=list)


class PrunedLearner(Learner):
    """Sets the pruned weights back to 0 after each step."""

    def __init__(self, model, masks: Mapping[str, Tensor] | None = None):
        super().__init__(model)
        self.masks = dict(masks or {})

    def write_prompt(self) -> None:
        super().write_prompt()
        if self.masks:
            magnitude.zero(self.model, self.masks)


def importance_examples(examples: Sequence) -> list:
    """The examples to measure importance on, always the same."""
    return [examples[i] for i in spread(len(examples), IMPORTANCE_TEXTS)]


def parts_to_keep(predictor: Predictor, pruning: Pruning, examples: Sequence, known: Importance | None = None) -> Keep:
    """What stays of the model's structure. examples: with labels, to measure importance on unless `known` is given."""
    model: Any = predictor.model
    keep = Keep.whole(model.config)
    if pruning.what == "layers":
        costs = losses_without_layers(model, batches_of(predictor, importance_examples(examples)))
        keep = keep.without_layers({layer for layer, _ in least_important([[cost] for cost in costs], pruning.share)})
    elif pruning.what != "weights" and pruning.share:
        known = known or importance(model, batches_of(predictor, importance_examples(examples)))
        dropped = least_important(normalised(getattr(known, pruning.what)), pruning.share)
        keep = keep.without_heads(dropped) if pruning.what == "heads" else keep.without_neurons(dropped)
    return keep.without_heads(set(pruning.heads))


def pruned(predictor: Predictor, pruning: Pruning, examples: Sequence) -> tuple[Predictor, dict[str, Tensor]]:
    """(the smaller model, the masks of weights that must stay 0). examples: as for `parts_to_keep`."""
    if pruning.what == "weights":
        masks = magnitude.magnitude_masks(predictor.model, pruning.share)
        return replace(predictor, model=magnitude.zeroed(predictor.model, masks)), masks
    return replace(predictor, model=cut(predictor.model, parts_to_keep(predictor, pruning, examples))), {}


def prune(
    start: str | Path,
    pruning: Pruning,
    train_data: TaskData,
    dev_data: TaskData,
    settings: FinetuneSettings,
    *,
    out: str | Path | None = None,
    probe_inputs: Sequence[Any] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Cut parts of the fine-tuned classifier in `start`, then train what is left; save to `out`. Yields `Preparing`
    events, a `Cut`, then the events of `finetune`. Raises ValueError as `finetune` does."""
    if out is not None:
        checkpoint.make_ready(out)
    torch.manual_seed(settings.seed)
    whole = Predictor.from_directory(start)
    whole.task.check_answers(dev_data)
    yield Preparing("the whole is measured")
    before = measured(whole, dev_data)
    yield Preparing("what goes is chosen, and what is left is measured")
    small, masks = pruned(whole, pruning, train_data.examples)
    config: Any = small.model.config
    heads, neurons = map(list, sizes_of(config))
    yield Cut(before, measured(small, dev_data), heads, neurons)
    yield from retrain(
        small, train_data, dev_data, settings, masks=masks, out=out, probe_inputs=probe_inputs, mailbox=mailbox
    )


def retrain(
    predictor: Predictor,
    train_data: TaskData,
    dev_data: TaskData,
    settings: FinetuneSettings,
    *,
    masks: Mapping[str, Tensor] | None = None,
    learner: Learner | None = None,
    out: str | Path | None = None,
    probe_inputs: Sequence[Any] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Continue training a fine-tuned model, head included, with the usual fine-tuning loop. learner: what to train, if
    it is more than the model."""
    learner = learner or PrunedLearner(predictor.model, masks)
    learner.to(best_device())
    measuring = Evaluator(predictor, dev_data, TaskData([]), settings.dev_sample)
    rows = TrainingRows.of("", predictor, train_data.examples, replace(settings, augmentation=None))
    sizes = {**rows.sizes, "dev": len(dev_data.examples), "set_aside": 0}
    yield started(predictor.task, predictor.labels, [], train_data, measuring, sizes, settings)
    yield measuring.measure(0)
    yield from measuring.answer(0, probe_inputs)
    yield from learn(learner, None, rows, measuring, settings, out, probe_inputs, mailbox)


def measured(predictor: Predictor, dev: TaskData) -> dict[str, float]:
    """The task's metrics and the model's cost, on the CPU and in its own precision."""
    model = predictor.model
    texts = [example.text for example in dev.take(spread(len(dev.examples), TIMED_TEXTS)).examples]
    cost = measure({"": (model, predictor.tokenizer)}, texts)[""]
    saved, compressed = magnitude.file_bytes(model)
    metrics = evaluate(predictor, dev).metrics
    return {
        **metrics,
        "parameters": cost.parameters,
        "milliseconds": cost.milliseconds,
        "megabytes": saved / 1e6,
        "compressed": compressed / 1e6,
    }
