"""One-shot search (AutoTinyBERT, Yin et al. 2021, arXiv:2107.13686): train one network so that each of its parts works,
evaluate every part with the weights it inherits, and train the best one that is fast enough."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.finetune.evaluation import evaluate
from minibert.finetune.learner import Learner
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import build_learner, checked_labels
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import TaskBatch
from minibert.inside.costs.cost import measure
from minibert.pruning.cut import MaskTap, cut
from minibert.pruning.keep import Keep, sizes_of
from minibert.pruning.run import TIMED_TEXTS, retrain
from minibert.tasks import Task, TaskData, task_named
from minibert.tasks.sampling import spread
from minibert.train import Eval, Event, Started, Step
from minibert.training.precision import best_device


@dataclass(frozen=True, order=True)
class SubNetwork:
    """A sub-network: the first `layers` layers, each with its first `heads` heads and `neurons` neurons."""

    layers: int
    heads: int
    neurons: int

    @property
    def name(self) -> str:
        return f"{self.layers}-{self.heads}-{self.neurons}"

    def keep(self, config: BertConfig) -> Keep:
        heads, neurons = sizes_of(config)
        if self.layers > len(heads) or self.heads > min(heads) or self.neurons > min(neurons):
            raise ValueError(f"the network has no part {self.name}: layers, heads and neurons it has not")
        return Keep(
            tuple(range(self.layers)),
            (tuple(range(self.heads)),) * self.layers,
            (tuple(range(self.neurons)),) * self.layers,
        )


@dataclass(frozen=True)
class SearchSpace:
    """The parts to search; all of them are evaluated, so keep it small (the paper searches its many by evolution)."""

    layers: tuple[int, ...] = (1, 2, 3, 4)
    heads: tuple[int, ...] = (1, 2, 4)
    neurons: tuple[int, ...] = (256, 512, 1024)

    def __post_init__(self) -> None:
        if not all(values and min(values) >= 1 for values in vars(self).values()):
            raise ValueError("a space needs numbers of at least 1 of layers, of heads and of neurons")

    @property
    def parts(self) -> list[SubNetwork]:
        return sorted(SubNetwork(*sizes) for sizes in product(self.layers, self.heads, self.neurons))


class SuperNetwork(Learner):
    """Trains a random part in each step, and with it the weights shared with other parts. With probability 1/`whole` it
    trains the largest part, which the others must not spoil."""

    def __init__(self, learner: Learner, space: SearchSpace, seed: int, whole: int = 4):
        super().__init__(learner.model, learner.frozen)
        self.rng, self.every = random.Random(seed), whole
        config: Any = self.model.config
        self.parts = [(part, MaskTap(part.keep(config), config)) for part in space.parts]

    def forward(self, batch: TaskBatch) -> dict[str, Tensor]:
        _, tap = self.parts[-1] if self.rng.randrange(self.every) == 0 else self.rng.choice(self.parts)
        return {"loss": self.model(batch, tap).loss}


@dataclass(frozen=True)
class Candidate(Event):
    """A part, evaluated with the weights it inherits. progress: fraction of the run that is done."""

    name: str
    layers: int
    heads: int
    neurons: int
    accuracy: float
    loss: float
    milliseconds: float
    parameters: int
    progress: float


@dataclass(frozen=True)
class Found(Event):
    """The best part within the budget; its training follows."""

    name: str
    budget: float
    candidate: dict


def best_within(candidates: Sequence[Candidate], budget: float) -> Candidate:
    """The most accurate candidate within the budget (milliseconds); of equals the one with the lowest loss. Raises
    ValueError if none is fast enough."""
    fast = [one for one in candidates if one.milliseconds <= budget]
    if not fast:
        least = min(one.milliseconds for one in candidates)
        raise ValueError(f"no part needs only {budget:.2f} ms a text: the fastest needs {least:.2f} ms")
    return max(fast, key=lambda one: (one.accuracy, -one.loss))


def ranked(
    predictor: Predictor, space: SearchSpace, dev: TaskData, low: float = 0.0, high: float = 1.0
) -> Iterator[Candidate]:
    """Evaluate every part of a trained network, cut out but not trained further."""
    texts = [example.text for example in dev.take(spread(len(dev.examples), TIMED_TEXTS)).examples]
    model: Any = predictor.model
    for number, part in enumerate(space.parts, 1):
        small = replace(predictor, model=cut(model, part.keep(model.config)).eval())
        cost = measure({"": (small.model, small.tokenizer)}, texts)[""]
        metrics = evaluate(small, dev).metrics
        yield Candidate(
            part.name,
            part.layers,
            part.heads,
            part.neurons,
            metrics["accuracy"],
            metrics["loss"],
            cost.milliseconds,
            cost.parameters,
            low + (high - low) * number / len(space.parts),
        )


def super_network(
    start: str | Path,
    task: Task,
    train_data: TaskData,
    dev_data: TaskData,
    settings: FinetuneSettings,
    space: SearchSpace,
) -> tuple[SuperNetwork, Predictor]:
    """(the learner, a predictor with its weights)."""
    torch.manual_seed(settings.seed)
    labels, _ = checked_labels(task, train_data, dev_data)
    learner, predictor = build_learner(start, task, labels, train_data, dev_data, settings)
    learner.to(best_device())
    if getattr(predictor.model, "problem", "") != "single_label_classification":
        raise ValueError(f"the search wants a task of classes, not {task.name}")
    return SuperNetwork(learner, space, settings.seed), predictor


def search(
    start: str | Path,
    task: str | Task,
    train_data: TaskData,
    dev_data: TaskData,
    settings: FinetuneSettings,
    afterwards: FinetuneSettings,
    *,
    budget: float,
    space: SearchSpace | None = None,
    out: str | Path | None = None,
    probe_inputs: Sequence[Any] = (),
    mailbox: Callable[[], list] = list,
) -> Iterator[Event]:
    """Train the super-network on the task, evaluate every part, train the best one further, save it to `out`. budget:
    milliseconds per text, measured here. Yields `Step`s and `Eval`s of the whole network, a `Candidate` for each part,
    a `Found`, then the events of `retrain`. Raises ValueError as `finetune` does, and if no part is fast enough."""
    if out is not None:
        checkpoint.make_ready(out)
    task, space = task_named(task) if isinstance(task, str) else task, space or SearchSpace()
    learner, predictor = super_network(start, task, train_data, dev_data, settings, space)
    trained, evaluated = 0.5, 0.8  # fractions of the run done after training and after evaluating
    for event in retrain(predictor, train_data, dev_data, settings, learner=learner):
        if isinstance(event, Step):
            yield replace(event, progress=trained * event.progress)
        elif isinstance(event, Started | Eval):
            yield event
        mailbox()
    candidates = []
    predictor = replace(predictor, model=predictor.model.cpu().eval())
    for candidate in ranked(predictor, space, dev_data, trained, evaluated):
        candidates.append(candidate)
        yield candidate
    best = best_within(candidates, budget)
    yield Found(best.name, budget, best.as_dict())
    model: Any = predictor.model
    part = SubNetwork(best.layers, best.heads, best.neurons)
    small = replace(predictor, model=cut(model, part.keep(model.config)))
    for event in retrain(small, train_data, dev_data, afterwards, out=out, probe_inputs=probe_inputs, mailbox=mailbox):
        if isinstance(event, Step):
            event = replace(event, progress=evaluated + (1 - evaluated) * event.progress)
        yield event
