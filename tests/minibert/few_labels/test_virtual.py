"""The push of virtual adversarial training: of the length that was asked for, and worse than a random one."""

import pytest
import torch
from scipy.stats import entropy

from minibert.few_labels.unlabelled import Unlabelled
from minibert.few_labels.virtual import divergence, pushed, smoothness_loss, to_length, worst_push
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.train import Eval, Optimization, Step
from tests.minibert.tasks.toys import toy

EPSILON = 0.5


@pytest.fixture
def model_and_batch(answering):
    predictor = answering("classification")
    data = toy("classification", 12, 0).examples
    return predictor.model, predictor.task.batch(predictor.features(data), 0)


def test_divergence_is_scipys():
    logits, clean = torch.randn(5, 3), torch.randn(5, 3)
    p, q = clean.double().softmax(-1).numpy(), logits.double().softmax(-1).numpy()
    assert divergence(logits, clean).item() == pytest.approx(entropy(p, q, axis=1).mean(), abs=1e-6)
    assert divergence(clean, clean).item() == pytest.approx(0, abs=1e-7)


def test_the_push_has_its_length_and_hurts_more_than_chance(model_and_batch):
    model, batch = model_and_batch
    assert batch.padding is not None
    torch.manual_seed(0)
    with torch.no_grad():
        clean = model(batch).logits
    push = worst_push(model, batch, clean, EPSILON)
    torch.testing.assert_close(push.flatten(1).norm(dim=1), torch.full((len(push),), EPSILON))
    assert push[~batch.padding].abs().max() == 0
    real = batch.padding.unsqueeze(-1)
    random = [to_length(torch.randn_like(push) * real, EPSILON) for _ in range(30)]
    with torch.no_grad():
        worst, *others = (divergence(pushed(model, batch, one), clean).item() for one in (push, *random))
    assert worst > 2 * max(others)
    assert all(weight.grad is None for weight in model.parameters())


def test_a_second_iteration_finds_it_again(model_and_batch):
    """Power iteration: from the worst direction, the next one is nearly the same."""
    model, batch = model_and_batch
    with torch.no_grad():
        clean = model(batch).logits
    once = worst_push(model, batch, clean, EPSILON)
    more = once
    for _ in range(6):
        more = worst_push(model, batch, clean, EPSILON, more)
    again = worst_push(model, batch, clean, EPSILON, more)
    cosines = torch.cosine_similarity(again.flatten(1), more.flatten(1)).abs()
    assert cosines.median() > 0.95


def test_smoothness_is_learned_and_modes_come_back(model_and_batch):
    model, batch = model_and_batch
    model.train()
    loss = smoothness_loss(model, batch, EPSILON)
    assert model.training and loss.item() > 0
    loss.backward()
    assert model.bert.blocks[0].attn.query.weight.grad.abs().sum() > 0


def run(start, unlabelled=None, **changes):
    settings = FinetuneSettings(
        **{"epochs": 2, "batch_size": 8, "max_length": 24, "evaluations_per_epoch": 1, "dropout": 0.0,
           "optimization": Optimization(learning_rate=2e-3), **changes}
    )  # fmt: skip
    train, dev = toy("classification", 16, 0), toy("classification", 16, 1)
    return list(finetune(start, "classification", train, dev, settings, unlabelled=unlabelled))


def test_a_run_learns_from_texts_without_labels(small_checkpoint):
    texts = Unlabelled(toy("classification", 20, 5).examples)
    steps = [event for event in run(small_checkpoint, texts, vat_weight=1.0) if isinstance(event, Step)]
    assert all(step.loss == pytest.approx(step.parts["task_loss"] + step.parts["vat_loss"]) for step in steps)
    again = [event.loss for event in run(small_checkpoint, texts, vat_weight=1.0) if isinstance(event, Step)]
    assert again == [step.loss for step in steps]
    assert "vat_loss" in next(e for e in run(small_checkpoint, vat_weight=1.0) if isinstance(e, Step)).parts


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
