"""The push of virtual adversarial training: of the length that was asked for, and worse than a random one."""

import pytest
import torch
from scipy.stats import entropy

from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.finetune.unlabelled import Unlabelled
from minibert.finetune.virtual_adversarial import (
    adversarial_perturbation,
    divergence,
    perturbed_logits,
    scaled_to_norm,
    smoothness_loss,
)
from minibert.train import Eval, Optimization, Step
from tests.minibert.tasks.toys import toy

EPSILON = 0.5


@pytest.fixture
def given(answering):
    """A model, a batch, and what it says of it."""
    predictor = answering("classification")
    batch = predictor.task.batch(predictor.features(toy("classification", 12, 0).examples), 0)
    with torch.no_grad():
        return predictor.model, batch, predictor.model(batch).logits


def test_divergence_is_scipys():
    logits, clean = torch.randn(5, 3), torch.randn(5, 3)
    p, q = clean.double().softmax(-1).numpy(), logits.double().softmax(-1).numpy()
    assert divergence(logits, clean).item() == pytest.approx(entropy(p, q, axis=1).mean(), abs=1e-6)
    assert divergence(clean, clean).item() == pytest.approx(0, abs=1e-7)


def test_the_push_has_its_length_and_hurts_more_than_chance(given):
    model, batch, clean = given
    assert batch.padding is not None
    torch.manual_seed(0)
    push = adversarial_perturbation(model, batch, clean, EPSILON)
    torch.testing.assert_close(push.flatten(1).norm(dim=1), torch.full((len(push),), EPSILON))
    assert push[~batch.padding].abs().max() == 0
    random = [scaled_to_norm(torch.randn_like(push) * batch.padding.unsqueeze(-1), EPSILON) for _ in range(30)]
    with torch.no_grad():
        worst, *others = (divergence(perturbed_logits(model, batch, one), clean).item() for one in (push, *random))
    assert worst > 2 * max(others)
    assert all(weight.grad is None for weight in model.parameters())


def test_a_next_iteration_finds_it_again(given):
    """Power iteration: from the worst direction, the next one is nearly the same."""
    pushes = [adversarial_perturbation(*given, EPSILON)]
    for _ in range(7):
        pushes.append(adversarial_perturbation(*given, EPSILON, pushes[-1]))
    *_, last, again = (push.flatten(1) for push in pushes)
    assert torch.cosine_similarity(again, last).abs().median() > 0.95


def test_smoothness_is_learned_and_modes_come_back(given):
    model, batch, _ = given
    loss = smoothness_loss(model.train(), batch, EPSILON)
    assert model.training and loss.item() > 0
    loss.backward()
    assert model.bert.blocks[0].attn.query.weight.grad.abs().sum() > 0


def run(start, unlabelled=None, **changes):
    settings = FinetuneSettings(
        **{
            "epochs": 2,
            "batch_size": 8,
            "max_length": 24,
            "evaluations_per_epoch": 1,
            "dropout": 0.0,
            "optimization": Optimization(learning_rate=2e-3),
            **changes,
        }
    )
    train, dev = toy("classification", 16, 0), toy("classification", 16, 1)
    return list(finetune(start, "classification", train, dev, settings, unlabelled=unlabelled))


def test_a_run_learns_from_texts_without_labels(small_checkpoint):
    def steps(*texts) -> list[Step]:
        return [event for event in run(small_checkpoint, *texts, vat_weight=1.0) if isinstance(event, Step)]

    texts = Unlabelled(toy("classification", 20, 5).examples)
    found = steps(texts)
    assert all(step.loss == pytest.approx(step.parts["task_loss"] + step.parts["vat_loss"]) for step in found)
    assert [step.loss for step in steps(texts)] == [step.loss for step in found]
    assert "vat_loss" in steps()[0].parts


def test_soft_labels_teach_what_no_label_says(small_checkpoint):
    texts = toy("classification", 60, 5).examples
    soft = [[0.9, 0.1] if one.label == "with" else [0.1, 0.9] for one in texts]
    changes = {"epochs": 20, "optimization": Optimization(learning_rate=5e-3)}
    evals = [one for one in run(small_checkpoint, Unlabelled(texts, soft), **changes) if isinstance(one, Eval)]
    assert evals[-1].metrics["accuracy"] >= 0.85


def test_what_cannot_be_learned_from_is_refused(small_checkpoint):
    texts = toy("classification", 4, 5).examples
    for attempt in (
        lambda: run(small_checkpoint, Unlabelled(texts)),  # neither soft labels nor a push
        lambda: run(small_checkpoint, Unlabelled(texts, [[1.0]] * 4)),
        lambda: Unlabelled(texts, [[1.0]] * 3),
        lambda: Unlabelled([]),
        lambda: FinetuneSettings(vat_weight=-1),
    ):
        with pytest.raises(ValueError, match=r"nothing is learned|2 probabilities|3 answers|no text|smoothness"):
            attempt()
