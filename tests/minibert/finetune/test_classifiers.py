"""More layers and other losses, against transformers' heads, torch, scikit-learn and the formulas by hand."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.utils.class_weight import compute_class_weight
from transformers import ElectraConfig, RobertaConfig
from transformers.models.electra.modeling_electra import ElectraClassificationHead
from transformers.models.roberta.modeling_roberta import RobertaClassificationHead

from minibert import checkpoint
from minibert.finetune.classifiers import LOSSES, BatchNorm, class_loss, classifier, label_loss
from minibert.finetune.predictor import Predictor
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.heads import BertForSequenceClassification, LearnedMix
from minibert.tasks import TASKS, Example, TaskData
from minibert.tasks.labels import LabelsExample, positive_weights
from minibert.tasks.sequences import balanced
from tests.minibert.tasks.toys import toy

LOGITS, LABELS = torch.randn(7, 3, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 2, -100, 1, 1, 0, 2])


def test_two_layers_are_the_heads_of_roberta_and_electra():
    for theirs, config, activation in (
        (RobertaClassificationHead, RobertaConfig, "tanh"),
        (ElectraClassificationHead, ElectraConfig, "gelu"),
    ):
        reference = theirs(config(hidden_size=8, num_labels=3)).eval()
        ours = classifier(8, 3, depth=2, activation=activation, norm="none", dropout=0.1).eval()
        ours[0].load_state_dict(reference.dense.state_dict())
        ours[-1].load_state_dict(reference.out_proj.state_dict())
        x = torch.randn(5, 4, 8)
        torch.testing.assert_close(ours(x[:, 0]), reference(x))


def test_depth_norm_and_activation_stand_in_order(answering):
    kinds = [type(layer).__name__ for layer in classifier(8, 3, depth=3, activation="relu", norm="batch", dropout=0.1)]
    assert kinds == [*("Linear", "BatchNorm", "ReLU", "Dropout") * 2, "Linear"]
    assert type(classifier(8, 3, depth=1, activation="relu", norm="none", dropout=0.1)) is torch.nn.Linear
    answering("tagging", classifier_depth=2, classifier_norm="layer")
    with pytest.raises(ValueError, match="it would count padding"):  # among tokens
        answering("tagging", classifier_depth=2, classifier_norm="batch")


def test_batch_norm_is_torchs_and_one_row_is_no_batch():
    ours, theirs = BatchNorm(6), torch.nn.BatchNorm1d(6)
    for seed in range(3):
        x = torch.randn(5, 6, generator=torch.Generator().manual_seed(seed)) * 3 + 1
        torch.testing.assert_close(ours(x), theirs(x))
    before = ours.running_mean.clone()
    alone = ours(x[:1])  # torch's refuses it in training
    for measuring in (ours.eval(), theirs.eval()):
        torch.testing.assert_close(alone, measuring(x[:1]))
    assert torch.equal(before, ours.running_mean)


def test_the_learned_mix_is_elmos_equation():
    """Peters et al. 2018, equation 1: γ · Σ softmax(s)ⱼ · hⱼ."""
    mix, layers = LearnedMix(4), [torch.randn(2, 3, 5) for _ in range(4)]
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([1.0, -2.0, 0.5, 0.0]))
        mix.scale.fill_(0.7)
        found = mix(layers)
    powers = np.exp([1.0, -2.0, 0.5, 0.0])
    expected = 0.7 * sum(float(w) * h for w, h in zip(powers / powers.sum(), layers, strict=True))
    torch.testing.assert_close(found, expected)


def test_class_weights_and_smoothing_are_torchs():
    weights = torch.tensor([0.5, 2.0, 1.0])
    weighted = class_loss("class_weights", weights, 2.0)(LOGITS, LABELS)
    torch.testing.assert_close(weighted, F.cross_entropy(LOGITS, LABELS, weight=weights))
    smoothed = class_loss("label_smoothing", None, 2.0)(LOGITS, LABELS)
    torch.testing.assert_close(smoothed, F.cross_entropy(LOGITS, LABELS, label_smoothing=0.1))


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0, 5.0])
def test_the_focal_loss_is_its_equation(gamma):
    """Lin et al. 2017, equation 4: −(1 − p)^γ · log p."""
    probs = LOGITS.double().softmax(-1).numpy()
    p = np.array([probs[i, label] for i, label in enumerate(LABELS.tolist()) if label != -100])
    expected = np.mean(-((1 - p) ** gamma) * np.log(p))
    assert class_loss("focal", None, gamma)(LOGITS, LABELS).item() == pytest.approx(expected, rel=1e-5)
    if gamma == 0:
        assert expected == pytest.approx(F.cross_entropy(LOGITS, LABELS).item(), rel=1e-5)


def test_losses_of_several_labels():
    targets = (torch.randn(7, 3, generator=torch.Generator().manual_seed(1)) > 0).float()
    weights, bce = torch.tensor([3.0, 1.0, 0.5]), F.binary_cross_entropy_with_logits
    p = torch.where(targets == 1, LOGITS.sigmoid(), 1 - LOGITS.sigmoid())
    for loss, expected in {
        "cross_entropy": bce(LOGITS, targets),
        "class_weights": bce(LOGITS, targets, pos_weight=weights),
        "focal": (-((1 - p) ** 2) * p.log()).mean(),
        "label_smoothing": bce(LOGITS, targets * 0.9 + 0.05),
    }.items():
        torch.testing.assert_close(label_loss(loss, weights, 2.0)(LOGITS, targets), expected)


def test_nothing_asked_is_no_loss_and_a_sure_answer_has_a_gradient():
    for loss in LOSSES:
        assert class_loss(loss, torch.ones(3), 2.0)(LOGITS, torch.full((7,), -100)) == 0
        logits = torch.tensor([[200.0, -200.0]], requires_grad=True)
        class_loss(loss, torch.ones(2), 0.5)(logits, torch.tensor([0])).backward()
        assert logits.grad.isfinite().all()


def test_balanced_weights_are_scikit_learns():
    classes = np.array(["a", "b", "c"])
    expected = compute_class_weight("balanced", classes=classes, y=np.repeat(classes, [7, 2, 1]))
    assert balanced([7, 2, 1]) == pytest.approx(expected)
    assert balanced([7, 0, 1]) == pytest.approx((8 / 14, 1.0, 4.0))
    assert positive_weights([1, 4, 0], 5) == (4.0, 0.25, 1.0)
    data = TaskData([Example("a", "yes")] * 3 + [Example("b", "no")])  # they are counted in it
    assert TASKS["classification"].loss_weights(data, ["no", "yes"]) == (2.0, 4 / 6)
    several = TaskData([LabelsExample("a", ("x",))] * 3 + [LabelsExample("b", ("x", "y")), LabelsExample("c")])
    assert TASKS["multilabel"].loss_weights(several, ["x", "y"]) == (0.25, 3.0)


def test_what_is_not_known_is_refused_by_name(small_checkpoint):
    for options, message in (
        ({"depth": 0}, "1 to 8 layers, not 0"),
        ({"depth": 2, "activation": "swish"}, "activation must be one of tanh, gelu, relu, not 'swish'"),
        ({"depth": 2, "norm": "group"}, "norm must be one of none, batch, layer, not 'group'"),
        ({"norm": "batch"}, "a norm stands between two layers"),
        ({"loss": "hinge"}, "loss must be one of cross_entropy, class_weights, focal"),
        ({"loss": "focal", "problem": "regression", "labels": ["score"]}, "a loss of its own"),
        ({"loss": "class_weights", "loss_weights": [1.0]}, "1 weights for 2 labels"),
        ({"loss": "class_weights", "loss_weights": [1.0, 0.0]}, "positive numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            checkpoint.load(small_checkpoint, kind=BertForSequenceClassification, **{"labels": ["a", "b"], **options})


def test_a_saved_model_that_says_otherwise_is_refused(answering, tmp_path):
    folder = answering("classification", classifier_depth=2, classifier_norm="batch").save(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    for change, message in (
        ({"classifier_activation": "swish"}, "not 'swish'"),
        ({"classifier_depth": "two"}, "classifier_depth must be"),
        ({"classifier_loss": "hinge"}, "not 'hinge'"),
        ({"classifier_depth": 3}, "classifier"),  # other weights than the file has
    ):
        (folder / "config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(checkpoint.CheckpointError, match=message):
            Predictor.from_directory(folder)


@pytest.mark.parametrize("task", ["tagging", "span", "choice", "similarity", "intent", "next-utterance"])
def test_tasks_with_a_loss_of_their_own_keep_it(small_checkpoint, task):
    with pytest.raises(ValueError, match=f"the task {task} does not learn by the loss 'focal'; it can by its own"):
        list(finetune(small_checkpoint, task, toy(task, 8, 0), toy(task, 8, 1), FinetuneSettings(loss="focal")))


def test_half_precision_keeps_the_running_statistics_which_an_ordinary_model_has_not(answering, tmp_path):
    predictor = answering("classification", classifier_depth=2, classifier_norm="batch")
    predictor.model.classifier[1].running_mean.fill_(0.25)
    again = Predictor.from_directory(predictor.save(tmp_path / "model", torch.float16))
    assert again.model.options.depth == 2 and again.model.classifier[1].running_mean.tolist() == [0.25] * 16
    ordinary = json.loads((answering("classification").save(tmp_path / "other") / "config.json").read_text())
    assert not {"classifier_depth", "classifier_loss", "classifier_gamma"} & set(ordinary)
