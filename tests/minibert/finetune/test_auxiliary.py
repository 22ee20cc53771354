"""Marks that are learned beside the task: their loss, what they teach, and that nothing of them stays."""

import pytest
import torch

from minibert import checkpoint
from minibert.finetune.augmentation import Augmentation
from minibert.finetune.auxiliary import AuxiliaryLoss, auxiliary_labels, auxiliary_values
from minibert.finetune.option_effects import FreshLearner, loss_terms
from minibert.finetune.predictor import Predictor
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import Example, TaskData
from minibert.train import Step
from tests.minibert.finetune.runs import of, run

DATA = TaskData(
    [Example("a z", "x", {"threat": "1", "insult": "0"}), Example("a b", "y", {"threat": "0", "insult": ""})] * 16
)
BOTH = DATA, DATA  # to learn from, and to measure on


def test_the_loss_is_the_mean_of_cross_entropies_of_what_is_known():
    marks = {"threat": ["0", "1"], "insult": ["a", "b", "c"]}
    torch.manual_seed(0)
    layers, pooled = AuxiliaryLoss(8, marks, 0.5), torch.randn(3, 8)
    numbers = torch.tensor([[0, 2], [1, -100], [1, 0]])
    first, second = (layer(pooled) for layer in layers.layers)
    entropy = torch.nn.functional.cross_entropy
    expected = (entropy(first, numbers[:, 0]) + entropy(second[[0, 2]], numbers[[0, 2], 1])) / 2
    torch.testing.assert_close(layers.mean_loss(pooled, numbers), expected)
    assert layers.mean_loss(pooled, torch.full((3, 2), -100)) == 0


def test_numbers_of_the_marks():
    data = TaskData([*DATA.examples, Example("c", "x", {"threat": "0", "insult": "1"})])
    marks = auxiliary_values(data, ["threat", "insult"])
    assert marks == {"threat": ["0", "1"], "insult": ["0", "1"]}
    assert [auxiliary_labels(example.extra, marks) for example in data.examples[:2]] == [(1, 0), (0, -100)]
    assert auxiliary_labels({"threat": "new"}, marks) == (-100, -100)


def test_they_are_learned_and_do_not_travel(small_checkpoint, tmp_path):
    options = {"auxiliary": ("threat",), "auxiliary_weight": 0.5, "epochs": 12, "max_length": 16}
    steps = of(run(small_checkpoint, data=BOTH, out=tmp_path / "model", **options), Step)
    parts = [event.parts for event in steps]
    assert parts[-1]["auxiliary_loss"] < 0.5 * parts[0]["auxiliary_loss"]
    assert steps[0].loss == pytest.approx(parts[0]["task_loss"] + 0.5 * parts[0]["auxiliary_loss"], rel=1e-5)
    assert not [name for name in checkpoint.load(tmp_path / "model").state_dict() if "auxiliary" in name]
    assert Predictor.from_directory(tmp_path / "model").predict(["a z"])[0]["label"] in ("x", "y")


def test_beside_masked_words_and_changed_copies_and_a_column_of_one_value_teaches_nothing(small_checkpoint):
    settings = FinetuneSettings(mlm_weight=0.1, auxiliary=("threat",))
    terms = loss_terms(FreshLearner.of(small_checkpoint, "classification", DATA, settings), DATA.examples[0])
    assert terms.loss == pytest.approx(terms.task + 0.1 * terms.mlm + 0.5 * terms.auxiliary, rel=1e-5)
    assert run(small_checkpoint, data=BOTH, auxiliary=("threat",), augmentation=Augmentation("swap"))[-1].metrics
    with pytest.raises(ValueError, match="column 'insult' has 1 values"):
        run(small_checkpoint, data=BOTH, auxiliary=("insult",))
