"""PET (Schick and Schütze 2021, §3.3–3.4): one model per pattern, their predictions for unlabelled texts as soft
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

    def __post_init__(self) -> None:
        if len(self.patterns) < 2 or len(set(self.patterns)) < len(self.patterns):
            raise ValueError("an ensemble needs two patterns or more, each another")
        if self.generations < 1 or self.growth < 2:
            raise ValueError("there is at least one generation, and each further has at least twice the labels")


@dataclass(frozen=True)
class Member(Event):
    """One of the models is trained: its generation and pattern, number of labels, metrics and predictions."""

    generation: int
    pattern: str
    labels: int
    metrics: dict[str, float]
    answers: list[dict] = field(default_factory=list)


def soften(probabilities: np.ndarray, temperature: float = SOFTENED) -> np.ndarray:
    """softmax(log p / T), (…, C), for the mean p of the models; flatter for T > 1."""
    powered = np.power(np.asarray(probabilities, dtype=np.float64), 1 / temperature)
    return powered / powered.sum(axis=-1, keepdims=True)


def mean_probabilities(predictions: Sequence[np.ndarray], weights: Sequence[float] | None = None) -> np.ndarray:
    """The weighted mean of several models' probabilities, (N, C) each. §3.3 weights a pattern by its accuracy before
    training, or all equally."""
    return np.average(np.stack(predictions), axis=0, weights=weights)


def grow_labels(
    labelled: TaskData, texts: Sequence, probabilities: np.ndarray, labels: Sequence[str], size: int, rng: random.Random
) -> TaskData:
    """The labelled data, filled up to `size` with texts labelled by the most confident predictions, in the class
    proportions of the labelled data (§3.4)."""
    predicted, confidence = probabilities.argmax(1), probabilities.max(1)
    examples = list(labelled.examples)
    for index, label in enumerate(labels):
        count = sum(example.label == label for example in labelled.examples)
        missing = max(0, round(count / len(labelled.examples) * size) - count)
        candidates = [i for i in np.argsort(-confidence, kind="stable") if predicted[i] == index][: 2 * missing]
        chosen = rng.sample(candidates, min(missing, len(candidates)))
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
    probe_inputs: Sequence = (),
) -> Iterator[Event]:
    """Yields Started, Steps with the progress of the whole run, a Member for each model, then the classifier's Eval and
    Sample, and Done. `out`: where to save the classifier."""
    runs, finished = settings.generations * len(settings.patterns) + 1, 0
    rng, labels, step, tokens, seconds = random.Random(settings.seed), train.labels, 0, 0, 0.0
    data = dict.fromkeys(settings.patterns, train)
    predictions: dict[str, np.ndarray] = {}
    with TemporaryDirectory() as folder:
        for generation in range(1, settings.generations + 1):
            for pattern in settings.patterns:
                cloze, out_cloze = replace(settings.cloze, pattern=pattern), Path(folder, "model")
                answers: list[dict] = []
                for event in finetune(
                    start, "cloze", data[pattern], dev, cloze, out=out_cloze, probe_inputs=probe_inputs
                ):
                    if isinstance(event, Started) and not finished:
                        yield replace(event, details={**event.details, "runs": runs})
                    if isinstance(event, Step):
                        yield renumbered(event, step, finished, runs)
                    elif isinstance(event, Sample):
                        answers = event.answers
                    elif isinstance(event, Done):
                        step, tokens, seconds = step + event.step, tokens + event.tokens, seconds + event.seconds
                        finished += 1
                        yield Member(generation, pattern, len(data[pattern].examples), event.metrics, answers)
                predictor = Predictor.from_directory(out_cloze)
                predictions[pattern] = label_probabilities(predictor, unlabelled, labels)
            if generation < settings.generations:
                size = len(train.examples) * settings.growth**generation
                for pattern in settings.patterns:
                    others = mean_probabilities([predictions[other] for other in settings.patterns if other != pattern])
                    data[pattern] = grow_labels(train, unlabelled, others, labels, size, rng)
    soft = soften(mean_probabilities([predictions[pattern] for pattern in settings.patterns]))
    texts = Unlabelled(unlabelled, soft.tolist())
    last = settings.classifier
    for event in finetune(
        start, "classification", train, dev, last, out=out, probe_inputs=probe_inputs, unlabelled=texts
    ):
        if isinstance(event, Step):
            yield renumbered(event, step, finished, runs)
        elif isinstance(event, Eval | Sample):
            yield replace(event, step=step + event.step)
        elif isinstance(event, Done):
            yield Done(step + event.step, tokens + event.tokens, seconds + event.seconds, event.metrics)
        elif not isinstance(event, Started):
            yield event


def renumbered(event: Step, steps: int, finished: int, runs: int) -> Step:
    """A step of one run, counted over all of them."""
    return replace(event, step=steps + event.step, progress=(finished + event.progress) / runs)


def label_probabilities(predictor: Predictor, examples: Sequence, labels: Sequence[str]) -> np.ndarray:
    """(N, C), in the order of `labels`."""
    predictions, _ = predictor.answers(examples)
    return np.array([[prediction["probabilities"][label] for label in labels] for prediction in predictions])
