"""Marks that are learned beside the task: their loss, what they teach, and that nothing of them stays."""

import pytest
import torch

from minibert import checkpoint
from minibert.finetune.auxiliary import AuxiliaryLayers, mark_numbers, marks_of
from minibert.finetune.option_effects import FreshLearner, loss_terms
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import Example, TaskData
from minibert.train import Optimization, Step
from tests.minibert.tasks.toys import toy

DATA = TaskData(
    [Example("a z", "x", {"threat": "1", "insult": "0"}), Example("a b", "y", {"threat": "0", "insult": ""})] * 16
)
SETTINGS = {"epochs": 4, "batch_size": 16, "max_length": 16, "optimization": Optimization(learning_rate=5e-3)}


def test_the_loss_is_the_mean_of_cross_entropies_of_what_is_known():
    marks = {"threat": ["0", "1"], "insult": ["a", "b", "c"]}
    torch.manual_seed(0)
    layers, pooled = AuxiliaryLayers(8, marks, 0.5), torch.randn(3, 8)
    numbers = torch.tensor([[0, 2], [1, -100], [1, 0]])
    first, second = (layer(pooled) for layer in layers.layers)
    entropy = torch.nn.functional.cross_entropy
    expected = (entropy(first, numbers[:, 0]) + entropy(second[[0, 2]], numbers[[0, 2], 1])) / 2
    torch.testing.assert_close(layers(pooled, numbers), expected)
    assert layers(pooled, torch.full((3, 2), -100)) == 0


def test_numbers_of_the_marks():
    data = TaskData([*DATA.examples, Example("c", "x", {"threat": "0", "insult": "1"})])
    marks = marks_of(data, ["threat", "insult"])
    assert marks == {"threat": ["0", "1"], "insult": ["0", "1"]}
    assert [mark_numbers(example.extra, marks) for example in data.examples[:2]] == [(1, 0), (0, -100)]
    assert mark_numbers({"threat": "new"}, marks) == (-100, -100)


def test_they_are_learned_and_do_not_travel(small_checkpoint, tmp_path):
    settings = FinetuneSettings(**{**SETTINGS, "epochs": 12}, auxiliary=("threat",), auxiliary_weight=0.5)
    events = list(finetune(small_checkpoint, "classification", DATA, DATA, settings, out=tmp_path / "model"))
    parts = [event.parts for event in events if isinstance(event, Step)]
    assert parts[-1]["auxiliary_loss"] < 0.5 * parts[0]["auxiliary_loss"]
    steps = [event for event in events if isinstance(event, Step)]
    assert steps[0].loss == pytest.approx(parts[0]["task_loss"] + 0.5 * parts[0]["auxiliary_loss"], rel=1e-5)
    assert not [name for name in checkpoint.load(tmp_path / "model").state_dict() if "auxiliary" in name]
    assert Predictor.from_directory(tmp_path / "model").predict(["a z"])[0]["label"] in ("x", "y")


def test_beside_masked_words_and_changed_copies(small_checkpoint):
    bench = FreshLearner.of(
        small_checkpoint, "classification", DATA, FinetuneSettings(mlm_weight=0.1, auxiliary=("threat",))
    )
    terms = loss_terms(bench, DATA.examples[0])
    assert terms.loss == pytest.approx(terms.task + 0.1 * terms.mlm + 0.5 * terms.auxiliary, rel=1e-5)
    from minibert.finetune.augmentation import Augmentation

    settings = FinetuneSettings(**{**SETTINGS, "epochs": 1}, auxiliary=("threat",), augmentation=Augmentation("swap"))
    assert list(finetune(small_checkpoint, "classification", DATA, DATA, settings))[-1].metrics


def test_with_nothing_beside_nothing_changes(small_checkpoint):
    settings = FinetuneSettings(**{**SETTINGS, "epochs": 1})
    losses = [e.loss for e in finetune(small_checkpoint, "classification", DATA, DATA, settings) if isinstance(e, Step)]
    parts = [e.parts for e in finetune(small_checkpoint, "classification", DATA, DATA, settings) if isinstance(e, Step)]
    assert len(losses) == 2 and not any("auxiliary_loss" in one for one in parts)


def test_what_cannot_be_learned_is_said(small_checkpoint):
    def run(task, data, **changes):
        list(finetune(small_checkpoint, task, data, data, FinetuneSettings(**SETTINGS, **changes)))

    with pytest.raises(ValueError, match="no column 'mood' to learn beside; it has insult, threat"):
        run("classification", DATA, auxiliary=("mood",))
    with pytest.raises(ValueError, match="column 'insult' has 1 values"):
        run("classification", DATA, auxiliary=("insult",))
    with pytest.raises(ValueError, match="the task tagging learns nothing beside"):
        run("tagging", toy("tagging", 8, 0), auxiliary=("threat",))
    with pytest.raises(ValueError, match="'threat' is read, so there is nothing to learn"):
        FinetuneSettings(auxiliary=("threat",), metadata=("threat",))
    with pytest.raises(ValueError, match="cannot be negative"):
        FinetuneSettings(auxiliary_weight=-1.0)
