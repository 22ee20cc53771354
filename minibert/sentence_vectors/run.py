"""Training sentence vectors: Sentence-BERT's three objectives and SimCSE, with the loop of minibert/train.py."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from minibert import checkpoint
from minibert.config import check_positive
from minibert.inside.geometry.vectors import cosines, nearest, nearest_alike
from minibert.model import Batch, Bert, initialize
from minibert.relatives import build
from minibert.sentence_vectors.encoder import SentenceEncoder, SentenceVectors
from minibert.sentence_vectors.files import parts_of, tokenizer_and_prompt
from minibert.sentence_vectors.objectives import (
    alignment,
    class_features,
    contrastive_loss,
    cosine_loss,
    triplet_loss,
    uniformity,
)
from minibert.sentence_vectors.rows import SentenceRow, VectorBatches, check_rows, classes_of
from minibert.tasks.similarity import ScoredPair
from minibert.train import Done, Eval, Event, Optimization, Sample, Saved, Started, TrainingState, optimizer_for, train
from minibert.training import resume
from minibert.training.disk_retry import save_with_retry
from minibert.training.precision import best_device
from minibert.training.statistics import rank_correlation

LOG = "training.jsonl"
SIMILAR = 4.0  # of 5: pairs with at least this score are positives (Gao et al. 2021, §3.1)


@dataclass(frozen=True)
class VectorSettings:
    """objective: one of OBJECTIVES · temperature: τ of SimCSE · margin: ε of the triplets · dropout: in training;
    SimCSE's two views of a sentence differ by it alone · max_length: tokens of a text in training."""

    objective: str = "simcse"
    pooling: str = "mean"
    temperature: float = 0.05
    margin: float = 1.0
    dropout: float = 0.1
    steps: int = 300
    batch_size: int = 64
    max_length: int = 32
    report_every: int = 10
    measure_every: int = 50
    save_every: int = 200  # steps between states to resume from
    optimization: Optimization = field(default_factory=lambda: Optimization(learning_rate=1e-4))
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(self, "steps", "batch_size", "report_every", "measure_every", "save_every")
        if self.max_length < 3:
            raise ValueError(f"max_length must leave room for [CLS] a [SEP]: at least 3, not {self.max_length}")
        if self.temperature <= 0:
            raise ValueError(f"the temperature must be positive, not {self.temperature}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout is a share from 0 up to 1, not {self.dropout}")


class VectorLearner(nn.Module):
    """An encoder and its loss, with a classifier for "softmax". batch_size: B."""

    def __init__(self, encoder: SentenceEncoder, settings: VectorSettings, batch_size: int, classes: int = 0):
        super().__init__()
        self.encoder, self.settings, self.batch_size = encoder, settings, batch_size
        self.classifier: Any = None
        if classes:
            self.classifier = nn.Linear(3 * encoder.bert.config.hidden_size, classes, bias=False)
            initialize(self.classifier, encoder.bert.config.initializer_range)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """batch: see VectorBatches; labels: (B,) classes or cosines."""
        u, v, *others = self.encoder(batch).float().split(self.batch_size)  # (B, H) each; fewer hard negatives
        labels: Any = batch.labels
        match self.settings.objective:
            case "softmax":
                loss = F.cross_entropy(self.classifier(class_features(u, v)).float(), labels)
            case "cosine":
                loss = cosine_loss(u, v, labels)
            case "triplet":
                loss = triplet_loss(u, v, others[0], self.settings.margin)
            case _:
                loss = contrastive_loss(u, v, self.settings.temperature, *others)
        return {"loss": loss}


class Embedder(Protocol):
    """Texts → vectors, (N, H)."""

    def embed(self, texts: Sequence[str]) -> np.ndarray: ...


@dataclass(frozen=True)
class HeldOut:
    """Held-out data. pairs: with human scores · questions: (question, standard question), whose nearest other question
    should have the same standard question."""

    pairs: Sequence[ScoredPair] = ()
    questions: Sequence[tuple[str, str]] = ()

    def measure(self, vectors: Embedder) -> dict[str, float]:
        """spearman: of cosines and scores · alignment: of pairs scored at least SIMILAR · uniformity: of all texts of
        the pairs, else of the questions · found: share of questions whose nearest has the same standard question."""
        metrics: dict[str, float] = {}
        x = np.zeros((0, 1))
        if self.questions:
            x = vectors.embed([question for question, _ in self.questions])
            metrics["found"] = float(nearest_alike(x, [standard for _, standard in self.questions]).mean())
        if self.pairs:
            u, v = (vectors.embed([getattr(pair, side) for pair in self.pairs]) for side in ("text", "pair"))
            scores = np.array([pair.score for pair in self.pairs])
            metrics["spearman"] = rank_correlation(cosines(u, v), scores)
            if (similar := scores >= SIMILAR).any():
                metrics["alignment"] = float(alignment(torch.tensor(u[similar]), torch.tensor(v[similar])))
            x = np.concatenate([u, v])
        if len(x) > 1:
            metrics["uniformity"] = float(uniformity(torch.tensor(x)))
        return {name: value for name, value in metrics.items() if np.isfinite(value)}


def learn_vectors(
    settings: VectorSettings,
    model: str | Path,
    rows: Sequence[SentenceRow],
    *,
    held: HeldOut | None = None,
    lines: Sequence[str] = (),
    probe_inputs: Sequence[str] = (),
    mailbox: Callable[[], list] = list,
    out: str | Path | None = None,
    resuming: bool = False,
) -> Iterator[Event]:
    """Train the checkpoint `model` further and save it to `out`; yields the events of the run.

    held: evaluated before the first step, every `measure_every` steps and at the end (`Eval`), each time with the
    nearest of `lines` to each text of `probe_inputs` (`Sample`) · mailbox(): the messages since its last call; a list
    of texts replaces `probe_inputs` · resuming: continue an interrupted run with these settings. Raises ValueError for
    unusable input.
    """
    check_rows(settings.objective, rows)
    folder = None if out is None else Path(out)
    if folder is not None:
        checkpoint.make_ready(folder)
    saved = resume.require_latest(folder) if resuming and folder is not None else None
    if saved is not None:
        saved.check(asdict(settings))
    facts = {"data": [settings.objective], "documents": len(rows), "tokens": sum(len(t) for r in rows for t in r.texts)}
    torch.manual_seed(settings.seed)
    learner = build_vector_learner(saved.directory if saved else model, settings, rows)
    tokenizer, prompt = tokenizer_and_prompt(folder if saved and folder else Path(model))
    longest = min(128, learner.encoder.bert.config.longest)
    vectors = SentenceVectors(learner.to(best_device()).encoder, tokenizer, longest=longest, prompt=prompt)
    stream = VectorBatches(
        [replace(row, texts=tuple(prompt + text for text in row.texts)) for row in rows],
        tokenizer,
        settings.batch_size,
        min(settings.max_length, longest),
        settings.seed,
        copies=2 if settings.objective == "simcse" else 1,
        position=saved.position if saved else None,
    )
    state, events = TrainingState(optimizer_for(learner, settings.optimization)), []
    if saved is not None:
        saved.check_text(facts)
        if learner.classifier is not None:
            learner.classifier.load_state_dict(load_file(saved.directory / resume.EXTRA_WEIGHTS))
        saved.restore(learner, state)
        events = list(saved.events)
    elif folder is not None:
        resume.clear(folder)

    def note(event: Event) -> Event:
        events.append(event.as_dict())
        return event

    def evaluate() -> Iterator[Event]:
        if metrics := (held or HeldOut()).measure(vectors):
            yield note(Eval(state.step, metrics))
        yield from sample()

    def sample() -> Iterator[Event]:
        if probe_inputs and lines:
            yield Sample(state.step, nearest_lines(vectors, probe_inputs, lines))

    def save(folder: Path, finished: bool) -> None:
        vectors.save(folder, torch.float16)
        with checkpoint.writing(folder) as ready:
            text = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
            (ready / LOG).write_text(text, encoding="utf-8")
        if finished:
            resume.clear(folder)
        else:
            classifier = learner.classifier.state_dict() if learner.classifier is not None else {}
            bert = {"": learner.encoder.bert}
            resume.save(folder, bert, tokenizer, state, stream.position, asdict(settings), events, classifier)

    if saved is None:
        parameters = sum(weight.numel() for weight in learner.encoder.parameters())
        yield note(Started(asdict(settings), {**facts, "parameters": parameters, "classes": classes_of(rows)}))
        yield from evaluate()
    metrics: dict[str, float] = {}
    last_measured = state.step
    loop = train(
        learner,
        stream,
        settings.optimization,
        steps=settings.steps,
        report_every=settings.report_every,
        also_every=settings.save_every,
        losses_of=lambda losses, part, whole: losses,
        state=state,
    )
    try:
        for event in loop:
            if isinstance(event, Done):
                break
            yield note(event)
            for message in mailbox():
                probe_inputs = [str(text) for text in message]
                yield from sample()
            last = state.step == settings.steps
            if state.step - last_measured >= settings.measure_every or last:
                last_measured = state.step
                for measurement in evaluate():
                    metrics = measurement.metrics if isinstance(measurement, Eval) else metrics
                    yield measurement
            if folder is not None and state.step % settings.save_every == 0 and not last:
                save_with_retry(save, folder, False)
                yield Saved(state.step, str(folder))
    except GeneratorExit:  # the consumer closed the generator: keep what was learned
        if folder is not None:
            save(folder, finished=False)
        raise
    if folder is not None:
        save_with_retry(save, folder, True)
        yield Saved(state.step, str(folder))
    yield Done(state.step, state.tokens, state.seconds, metrics)


def build_vector_learner(directory: str | Path, settings: VectorSettings, rows: Sequence[SentenceRow]) -> VectorLearner:
    """A learner with the encoder of a checkpoint and the dropout of the settings."""
    before = checkpoint.load(parts_of(Path(directory)).get("Transformer", directory), kind=Bert)
    dropout = {"hidden_dropout_prob": settings.dropout, "attention_probs_dropout_prob": settings.dropout}
    bert = build(before.config.change(**dropout))
    bert.load_state_dict(before.state_dict())
    classes = len(classes_of(rows)) if settings.objective == "softmax" else 0
    batch_size = min(settings.batch_size, len(rows))
    return VectorLearner(SentenceEncoder(bert, settings.pooling), settings, batch_size, classes)


def nearest_lines(vectors: Embedder, texts: Sequence[str], lines: Sequence[str], k: int = 5) -> list[dict]:
    """For each text the k lines with the largest cosine, as in a `Sample`."""
    table, queries = vectors.embed(lines), vectors.embed(texts)
    return [
        {"text": text, "nearest": [[lines[i], round(cosine, 4)] for i, cosine in nearest(table, query, k)]}
        for text, query in zip(texts, queries, strict=True)
    ]
