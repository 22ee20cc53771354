"""Several patterns agree on soft labels, and a classifier learns from them."""

import random

import numpy as np
import pytest
from scipy.special import softmax

from minibert.few_labels.ensemble import EnsembleSettings, Member, ensemble, grow_labels, mean_probabilities, soften
from minibert.finetune.predictor import Predictor
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import Example, TaskData
from minibert.train import Done, Eval, Optimization, Step
from tests.minibert.tasks.toys import toy

WORDS = {"with": ["y"], "without": ["n"]}


def test_softening_is_a_softmax_at_a_temperature():
    logits = np.random.default_rng(0).normal(size=(6, 3))
    for temperature in (1.0, 2.0):
        assert soften(softmax(logits, axis=1), temperature) == pytest.approx(softmax(logits / temperature, axis=1))


def test_agreement_is_a_weighted_mean():
    a, b = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    assert mean_probabilities([a, b]).tolist() == [[0.5, 0.5]] and mean_probabilities([a, b], [3, 1]).tolist() == [
        [0.75, 0.25]
    ]


def test_the_next_generation_gets_the_surest_in_equal_shares():
    labelled = TaskData([Example("p", "a"), Example("q", "b")])
    texts = [Example(str(i), None) for i in range(40)]
    of_a = np.array([0.99 - i / 100 if i % 2 else 0.01 + i / 100 for i in range(40)])
    sure = np.stack([of_a, 1 - of_a], 1)
    found = grow_labels(labelled, texts, sure, ["a", "b"], 8, random.Random(0)).examples
    assert [one.label for one in found].count("a") == 4 and len(found) == 8
    assert all(int(one.text) < 12 for one in found[2:])  # of the six surest of each class, three
    assert all((one.label == "a") == (int(one.text) % 2 == 1) for one in found[2:])
    few = grow_labels(labelled, texts[:2], sure[:2], ["a", "b"], 100, random.Random(0))
    assert len(few.examples) == 4


@pytest.mark.trains
def test_patterns_teach_a_classifier(small_checkpoint, tmp_path):
    fast = Optimization(learning_rate=1e-2)
    base = {"max_length": 24, "dropout": 0.0, "evaluations_per_epoch": 1, "batch_size": 16, "optimization": fast}
    cloze = FinetuneSettings(**base, words=WORDS, epochs=8)
    classifier = FinetuneSettings(**base, epochs=6, beside_size=16)
    settings = EnsembleSettings(("[MASK]. {text}", "[MASK] {text}"), cloze, classifier, generations=2, growth=2)
    train, dev, unlabelled = (toy("classification", count, seed) for seed, count in enumerate((64, 24, 48)))
    data = (train, dev, unlabelled.examples)
    events = list(ensemble(small_checkpoint, *data, settings, out=tmp_path / "m", probe_inputs=["a z"]))
    members = [event for event in events if isinstance(event, Member)]
    assert [(one.generation, one.labels) for one in members][:2] == [(1, 64), (1, 64)]
    assert all(64 < one.labels <= 128 for one in members[2:]) and len(members) == 4
    assert all(one.answers[0]["text"] == "a z" for one in members)
    shares = [event.progress for event in events if isinstance(event, Step)]
    assert shares == sorted(shares) and shares[-1] == 1 and isinstance(events[-1], Done)
    assert [event for event in events if isinstance(event, Eval)][-1].metrics["accuracy"] > 0.8
    assert Predictor.from_directory(tmp_path / "m").task.name == "classification"
    with pytest.raises(ValueError, match="two patterns"):
        EnsembleSettings(("a",), cloze, classifier)
