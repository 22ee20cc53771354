"""All of PET (Schick and Schütze 2021, §3.3–3.4): one model per pattern, their answers to unlabelled texts as soft
labels, and a classifier trained on these. iPET: generations of models, each trained on labels by the ones before."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.unlabelled import Unlabelled
from minibert.tasks import TaskData
from minibert.train import Done, Eval, Event, Sample, Started, Step

SOFTENED = 2.0  # temperature of the soft labels, §4


@dataclass(frozen=True)
class EnsembleSettings:
    """patterns: one model for each, all with the words of `cloze` · cloze, classifier: training settings of these
    models and of the last one · generations: 1 is PET; each further one is trained anew on `growth` times the labels of
    the one before, the new ones by the other models (§3.4; the paper uses a random quarter of them, we use all)."""

    patterns: tuple[str, ...]
    cloze: FinetuneSettings
    classifier: FinetuneSettings
    generations: int = 1
    growth: int = 4
    seed: int = 0

    def __post_init__(self):
        if len(self.patterns) < 2 or len(set(self.patterns)) < len(self.patterns):
            raise ValueError("an ensemble needs two patterns or more, each another")
        if self.generations < 1 or self.growth < 2:
            raise ValueError("there is at least one generation, and each further has at least twice the labels")


@dataclass(frozen=True)
class Member(Event):
    """One of the models is trained: its generation and pattern, its metrics and its answers."""

    generation: int
    pattern: str
    labels: int
    metrics: dict[str, float]
    answers: list[dict] = field(default_factory=list)


def soften(probabilities: np.ndarray, temperature: float = SOFTENED) -> np.ndarray:
    """softmax(log p / T): (…, C), flatter for T > 1. p is the mean of the models; its logarithm serves as logits."""
    powered = np.power(np.asarray(probabilities, dtype=np.float64), 1 / temperature)
    return powered / powered.sum(axis=-1, keepdims=True)


def mean_probabilities(answers: Sequence[np.ndarray], weights: Sequence[float] | None = None) -> np.ndarray:
    """The weighted mean of several models' probabilities, (N, C). §3.3 weighs a pattern by its accuracy before
    training, or all equally."""
    return np.average(np.stack(answers), axis=0, weights=weights)


def grow_labels(
    labelled: TaskData, texts: Sequence, probabilities: np.ndarray, labels: Sequence[str], size: int, rng: random.Random
) -> TaskData:
    """The labelled data, filled up to `size` with texts labelled by the most confident answers, in the class
    proportions of the labelled data (§3.4)."""
    said, sure = probabilities.argmax(1), probabilities.max(1)
    examples = list(labelled.examples)
    for number, label in enumerate(labels):
        share = sum(one.label == label for one in labelled.examples) / len(labelled.examples)
        wanted = round(share * size) - sum(one.label == label for one in labelled.examples)
        mine = [i for i in np.argsort(-sure, kind="stable") if said[i] == number][: 2 * max(wanted, 0)]
        chosen = rng.sample(mine, min(wanted, len(mine))) if wanted > 0 else []
        examples += [replace(texts[i], label=label) for i in sorted(chosen)]
    return TaskData(examples, [], labelled.name, labelled.declared)


def ensemble(
    start: str | Path,
    train: TaskData,
    dev: TaskData,
    unlabelled: Sequence,
    settings: EnsembleSettings,
    *,
    out: str | Path | None = None,
    watch: Sequence = (),
) -> Iterator[Event]:
    """Yields Started, Steps with the progress of the whole run, a Member for each model, then the classifier's Eval and
    Sample, and Done. `out`: where to save the classifier."""
    runs, made = settings.generations * len(settings.patterns) + 1, 0
    rng, labels, tokens, seconds = random.Random(settings.seed), train.labels, 0, 0.0
    step = 0
    data = dict.fromkeys(settings.patterns, train)
    said: dict[str, np.ndarray] = {}
    with TemporaryDirectory() as folder:
        for generation in range(1, settings.generations + 1):
            for pattern in settings.patterns:
                learning = replace(settings.cloze, pattern=pattern)
                events = finetune(start, "cloze", data[pattern], dev, learning, out=Path(folder) / "model", watch=watch)
                answers, last = [], None
                for event in events:
                    if isinstance(event, Started) and not made:
                        yield replace(event, details={**event.details, "runs": runs})
                    if isinstance(event, Step):
                        yield renumbered(event, step, made, runs)
                    elif isinstance(event, Sample):
                        answers = event.answers
                    elif isinstance(event, Eval):
                        last = event
                    elif isinstance(event, Done):
                        step, tokens, seconds = step + event.step, tokens + event.tokens, seconds + event.seconds
                        made += 1
                yield Member(generation, pattern, len(data[pattern].examples), last.metrics, answers)
                predictor = Predictor.from_directory(Path(folder) / "model")
                said[pattern] = probabilities(predictor, unlabelled, labels)
            if generation < settings.generations:
                size = len(train.examples) * settings.growth**generation
                for pattern in settings.patterns:
                    others = mean_probabilities([said[other] for other in settings.patterns if other != pattern])
                    data[pattern] = grow_labels(train, unlabelled, others, labels, size, rng)
    soft = soften(mean_probabilities([said[pattern] for pattern in settings.patterns]))
    events = finetune(
        start,
        "classification",
        train,
        dev,
        settings.classifier,
        out=out,
        watch=watch,
        unlabelled=Unlabelled(unlabelled, soft.tolist()),
    )
    for event in events:
        if isinstance(event, Step):
            yield renumbered(event, step, made, runs)
        elif isinstance(event, Eval | Sample):
            yield replace(event, step=step + event.step)
        elif isinstance(event, Done):
            yield Done(step + event.step, tokens + event.tokens, seconds + event.seconds, event.metrics)
        elif not isinstance(event, Started):
            yield event


def renumbered(event: Step, steps: int, made: int, runs: int) -> Step:
    """A step of one run, renumbered within all of them."""
    return replace(event, step=steps + event.step, progress=(made + event.progress) / runs)


def probabilities(predictor: Predictor, examples: Sequence, labels: Sequence[str]) -> np.ndarray:
    """(N, C), in the order of `labels`."""
    answers, _ = predictor.answers(examples)
    return np.array([[answer["probabilities"][label] for label in labels] for answer in answers])
