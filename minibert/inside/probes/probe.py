"""Linear probes: what a linear classifier can read off each layer.

A probe that is right shows that the layer holds the label in a form easy to read, not that the model uses it; and a
probe with enough features can memorize words. So each word task has a control task: every word *type* gets a random
label, the same wherever it occurs. What the probe gets right there it has memorized; the difference is its selectivity
(Hewitt and Liang 2019).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from minibert import checkpoint
from minibert.inside.geometry.vectors import joined, sentence_vectors, shape_of, span_vectors, unit
from minibert.inside.probes.tasks import KINDS, ProbeItem, ProbeTask
from minibert.relatives import build
from minibert.tokenizer import Tokenizer
from minibert.train import Done, Event, Started
from minibert.training.statistics import wilson

ITEMS = 1500  # per task at most
TEST_SHARE = 1 / 3
STRENGTH = 0.1  # scikit-learn's C: smaller is simpler
LEAST_STEP = 0.25  # layers: two kinds that settle closer together than this are not ranked
CLOSE = 0.02  # a layer is as good as the best one when it is at most this far below


@dataclass(frozen=True)
class Probed(Event):
    """One task with one seed. accuracy, control: of each layer, control None for sentence tasks · majority: the share
    of the commonest label in the test items, as baseline · progress: share of the run done."""

    task: str
    kind: str
    unit: str
    seed: int
    labels: int
    train: int
    test: int
    majority: float
    accuracy: list[float]
    control: list[float] | None
    progress: float


def probe_layers(start: str | Path, tasks: Sequence[ProbeTask], seeds: int = 3) -> Iterator[Event]:
    """Probe the model in the folder `start` with every task and seed: Started, a Probed each, Done."""
    model, tokenizer = checkpoint.load(start), checkpoint.load_tokenizer(start)
    yield Started({"seeds": seeds}, {"tasks": [task.name for task in tasks], "layers": shape_of(model)[0]})
    began, done = time.monotonic(), 0
    for task in tasks:
        vectors, items = item_vectors(model, tokenizer, task)
        for seed in range(seeds):
            done += 1
            yield probe_task(task, items, vectors, seed, done / (len(tasks) * seeds))
    yield Done(done, 0, time.monotonic() - began)


def item_vectors(model: nn.Module, tokenizer: Tokenizer, task: ProbeTask) -> tuple[np.ndarray, list[ProbeItem]]:
    """(L + 1, N, H or 2H) and the N items they belong to: a word's vector is the mean over its pieces, a pair's the two
    words' concatenated, a sentence's the mean over all its tokens. Items whose tokens were cut off are left out.

    If the task is `matched`, a pair's vector is the elementwise product of the two, each of length 1: (L + 1, N, H);
    its sum is their cosine. No linear classifier can tell from two concatenated vectors whether they fit each other."""
    texts, spans = zip(*map(joined, task.sentences), strict=True)
    if task.unit == "sentence":
        vectors = sentence_vectors(model, tokenizer, texts, ("mean",))["mean"]
        return vectors[:, [item.sentence for item in task.items]], list(task.items)
    items = sorted(task.items, key=lambda item: item.sentence)
    asked: list[list[tuple[int, int]]] = [[] for _ in texts]
    for item in items:
        asked[item.sentence] += [spans[item.sentence][place] for place in item.places]
    vectors = span_vectors(model, tokenizer, texts, asked)
    width = len(items[0].places)
    vectors = vectors.reshape(len(vectors), len(items), width, vectors.shape[-1])
    vectors = unit(vectors).prod(2) if task.matched else vectors.reshape(*vectors.shape[:2], -1)
    read = ~np.isnan(vectors[0]).any(-1)
    return vectors[:, read], [item for item, kept in zip(items, read, strict=True) if kept]


def probe_task(
    task: ProbeTask, items: Sequence[ProbeItem], vectors: np.ndarray, seed: int, progress: float = 1.0
) -> Probed:
    """The probes of all layers on one split. seed: of the test sentences and of the control's labels."""
    rng = np.random.default_rng(seed)
    test = split(items, rng, task.together)
    names = [item.label for item in items]
    labels = np.unique(names, return_inverse=True)[1]
    accuracy = [probe(x, labels, test) for x in vectors]
    control = None
    if task.unit != "sentence":
        control_labels = labels_by_type([task.type_of(item) for item in items], labels, rng)
        control = [probe(x, control_labels, test) for x in vectors]
    counts = np.bincount(labels[test])
    train, tested = int((~test).sum()), int(test.sum())
    return Probed(
        task.name,
        task.kind,
        task.unit,
        seed,
        len(set(names)),
        train,
        tested,
        float(counts.max() / tested),
        accuracy,
        control,
        progress,
    )


def split(items: Sequence[ProbeItem], rng: np.random.Generator, together: Sequence[int] = ()) -> np.ndarray:
    """True for the test items: those of a third of the sentences, so that no sentence is in both parts, and no group of
    sentences with the same number in `together`."""
    groups = [together[item.sentence] if together else item.sentence for item in items]
    numbers = np.unique(groups)
    held_out = set(rng.permutation(numbers)[: max(1, round(len(numbers) * TEST_SHARE))].tolist())
    return np.array([group in held_out for group in groups])


def labels_by_type(types: Sequence[tuple[str, ...]], labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Hewitt and Liang 2019, §2: every type draws one label, by the labels' frequencies, and keeps it everywhere."""
    shares = np.bincount(labels) / len(labels)
    drawn = {kind: rng.choice(len(shares), p=shares) for kind in dict.fromkeys(types)}
    return np.array([drawn[kind] for kind in types])


def probe(vectors: np.ndarray, labels: np.ndarray, test: np.ndarray) -> float:
    """Accuracy on the items of `test` of a logistic regression (scikit-learn) trained on the others, with features
    standardized to mean 0 and variance 1. vectors: (N, H) · labels: (N,) · test: (N,) bool."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if len(np.unique(labels[~test])) < 2:
        return float((labels[test] == labels[~test][0]).mean())
    model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=1000))
    return float(model.fit(vectors[~test], labels[~test]).score(vectors[test], labels[test]))


def untrained_copy(model: Any, seed: int = 0) -> nn.Module:
    """An encoder of the same shape with random weights, in eval mode: the baseline before any training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build(model.config).eval()


# --- over the layers --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskResult:
    """All seeds of one task. accuracy, control: (seeds, L + 1); control None for sentence tasks · settled:
    `settled_layer` of each seed · expected: `expected_layer` of the mean · test: items that a seed is measured on."""

    name: str
    kind: str
    unit: str
    labels: int
    majority: float
    accuracy: np.ndarray
    control: np.ndarray | None
    settled: list[int]
    expected: float
    test: int

    @property
    def above_chance(self) -> bool:
        """Whether the best layer is better than the commonest label: the latter is below its 95 % interval."""
        best = float(self.mean.max())
        return wilson(best * self.test, self.test)[0] > self.majority

    @property
    def mean(self) -> np.ndarray:
        return self.accuracy.mean(0)

    @property
    def selectivity(self) -> np.ndarray | None:
        """(seeds, L + 1)"""
        return None if self.control is None else self.accuracy - self.control

    @property
    def best(self) -> int:
        """The layer with the best mean, the first of equals."""
        return int(self.mean.argmax())


def gathered(events: Sequence[dict]) -> list[TaskResult]:
    """The results in a run's events, one per task, in the order of their first events."""
    by_task: dict[str, list[dict]] = {}
    for event in events:
        if event["event"] == "probed":
            by_task.setdefault(event["task"], []).append(event)
    results = []
    for name, rows in by_task.items():
        accuracy = np.array([row["accuracy"] for row in rows])
        control = None if rows[0]["control"] is None else np.array([row["control"] for row in rows])
        majority = float(np.mean([row["majority"] for row in rows]))
        settled = [settled_layer(row) for row in accuracy]
        about = (name, rows[0]["kind"], rows[0]["unit"], rows[0]["labels"])
        expected, test = expected_layer(accuracy.mean(0)), round(np.mean([row["test"] for row in rows]))
        results.append(TaskResult(*about, majority, accuracy, control, settled, expected, test))
    return results


def settled_layer(scores: Sequence[float]) -> int:
    """The first layer whose score is within CLOSE of the best."""
    return int(np.argmax(np.asarray(scores) >= max(scores) - CLOSE))


def expected_layer(scores: Sequence[float]) -> float:
    """Where the gains come, on average: Σ ℓ Δℓ / Σ Δℓ, Δℓ being what layer ℓ adds to the best score so far (Tenney et
    al. 2019, §3.2, with the best layer so far in place of a mixture of all so far). 0 where no layer adds
    anything."""
    gains = np.diff(np.maximum.accumulate(scores))
    return float((np.arange(1, len(scores)) * gains).sum() / gains.sum()) if gains.sum() > 0 else 0.0


@dataclass(frozen=True)
class KindOrder:
    """layers, spread: the layer where each kind of knowledge settles, mean over its tasks and seeds, and its deviation
    by seed · verdict: "same" as surface → syntax → meaning, "other", or "unclear" if the gaps are within the spread."""

    layers: dict[str, float]
    spread: dict[str, float]
    verdict: str


def order_of_kinds(results: Sequence[TaskResult]) -> KindOrder:
    """Whether the order agrees with Jawahar et al. 2019 and Tenney et al. 2019. ValueError for fewer than two kinds."""
    per_seed = {
        kind: np.mean([result.settled for result in results if result.kind == kind], axis=0)
        for kind in KINDS
        if any(result.kind == kind for result in results)
    }
    if len(per_seed) < 2:
        raise ValueError("an order needs tasks of at least two kinds")
    layers = {kind: float(values.mean()) for kind, values in per_seed.items()}
    spread = {kind: float(values.std(ddof=1)) if len(values) > 1 else 0.0 for kind, values in per_seed.items()}
    steps = [(layers[b] - layers[a], max(spread[a], spread[b], LEAST_STEP)) for a, b in pairwise(layers)]
    verdict = "other" if any(-step > noise for step, noise in steps) else "unclear"
    if all(step > noise for step, noise in steps):
        verdict = "same"
    return KindOrder(layers, spread, verdict)
