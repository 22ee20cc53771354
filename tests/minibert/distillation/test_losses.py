"""The losses of distillation against torch's, transformers' and formulas worked by hand."""

import math

import pytest
import torch
import torch.nn.functional as F

from minibert.distillation import losses
from minibert.finetune.distillation import Distillation

RNG = torch.Generator().manual_seed(0)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=RNG)


REAL = torch.tensor([[True] * 5, [True, True, True, False, False]])


@pytest.mark.parametrize("temperature", [1.0, 2.0, 5.0])
def test_soft_labels_are_kl_and_the_teachers_entropy(temperature):
    student, teacher = random(4, 3), random(4, 3)
    wanted = (teacher / temperature).softmax(-1)
    kl = F.kl_div((student / temperature).log_softmax(-1), wanted, reduction="batchmean") * temperature**2
    entropy = -(wanted * wanted.log()).sum(-1).mean() * temperature**2
    assert torch.isclose(losses.soft_label_loss(student, teacher, temperature), kl + entropy, atol=1e-5)


def test_soft_labels_marks_and_numbers_by_hand():
    student, teacher = torch.tensor([[0.0, 0.0]]), torch.tensor([[math.log(3.0), 0.0]])
    assert losses.soft_label_loss(student, teacher) == pytest.approx(math.log(2))  # of an even guess
    student = torch.tensor([[math.log(3.0), 0.0]])
    assert losses.soft_label_loss(student, teacher) == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    student, teacher = random(4, 3), random(4, 3)
    marks = F.binary_cross_entropy_with_logits(student, teacher.sigmoid())
    assert torch.isclose(losses.soft_multilabel_loss(student, teacher), marks, atol=1e-6)
    assert losses.regression_loss(torch.tensor([[1.0]]), torch.tensor([[3.0]])) == 4.0


def test_the_gradient_does_not_fade_with_the_temperature():
    teacher, sizes = random(6, 3), []
    for temperature in (10.0, 100.0):
        student = torch.zeros(6, 3, requires_grad=True)
        losses.soft_label_loss(student, teacher, temperature).backward()
        sizes.append(student.grad.norm().item())
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)


def test_hidden_states_are_torchs_cosine_embedding_loss_and_mse_over_what_is_real():
    student, teacher = random(2, 5, 8), random(2, 5, 8)
    flat = (student[REAL], teacher[REAL])  # as in DistilBERT's released code
    theirs = torch.nn.CosineEmbeddingLoss()(*flat, torch.ones(int(REAL.sum())))
    assert torch.isclose(losses.cosine_loss(student, teacher, REAL), theirs, atol=1e-6)
    assert losses.hidden_loss(student, teacher, torch.zeros_like(REAL)) == 0  # nothing real is no loss
    assert torch.isclose(losses.hidden_loss(student, teacher), F.mse_loss(student, teacher))
    assert torch.isclose(losses.hidden_loss(student, teacher, REAL), F.mse_loss(student[REAL], teacher[REAL]))


def test_attention_is_mse_head_by_head():
    student, teacher = random(2, 2, 5, 5), random(2, 2, 5, 5)
    assert torch.isclose(losses.attention_loss(student, teacher), F.mse_loss(student, teacher))
    four = teacher.repeat_interleave(2, 1) + torch.tensor([1.0, -1.0, 1.0, -1.0])[None, :, None, None]
    assert torch.isclose(losses.attention_loss(student, four), F.mse_loss(student, teacher), atol=1e-6)
    one = losses.attention_loss(student[1:, :, :3, :3], teacher[1:, :, :3, :3])
    assert torch.isclose(losses.attention_loss(student[1:], teacher[1:], REAL[1:]), one)
    with pytest.raises(ValueError, match="cannot be shared out"):
        losses.attention_loss(random(1, 2, 3, 3), random(1, 3, 3, 3))


def test_relations_are_minilms_kl():
    student, teacher = random(2, 2, 5, 4), random(2, 2, 5, 6)  # D differs, as in the paper: 4 and 6
    ours, theirs = ((x @ x.mT / math.sqrt(x.size(-1))).softmax(-1) for x in (student, teacher))  # (B, A, T, T) each
    by_hand = F.kl_div(ours.log(), theirs, reduction="sum") / (2 * 2 * 5)
    assert torch.isclose(losses.relation_loss((student, student), (teacher, teacher), 2), by_hand, atol=1e-5)
    assert losses.relation_loss((student, student), (student, student), 2) == pytest.approx(0, abs=1e-6)
    # Of other heads, and without padding.
    student, teacher = random(2, 2, 5, 4), random(2, 3, 5, 4)  # 8 and 12 numbers a token, 2 and 3 heads
    whole = losses.relation_loss((student, student), (teacher, teacher), 4, REAL)
    rows = (student[:1], teacher[:1]), (student[1:, :, :3], teacher[1:, :, :3])
    cut = [losses.relation_loss((ours, ours), (theirs, theirs), 4) for ours, theirs in rows]
    assert torch.isclose(whole, (5 * cut[0] + 3 * cut[1]) / 8, atol=1e-6)
    assert torch.equal(losses.rehead(student, 2), student)
    with pytest.raises(ValueError, match="relation heads"):
        losses.relation_loss((student, student), (teacher, teacher), 5)


def test_the_teacher_gets_no_gradient():
    student, teacher = (random(2, 2, 5, 4).requires_grad_() for _ in range(2))
    total = losses.relation_loss((student, student), (teacher, teacher), 2, REAL) + losses.hidden_loss(student, teacher)
    total += losses.soft_label_loss(student, teacher) + losses.cosine_loss(student, teacher)
    total.backward()
    assert student.grad.isfinite().all() and student.grad.abs().sum() > 0 and teacher.grad is None


def test_settings_say_what_is_wrong():
    assert Distillation(attention=1.0, hidden=1.0).inside == ("attention", "hidden") and Distillation().inside == ()
    for wrong, words in (
        ({"temperature": 0}, "temperature"),
        ({"hidden": -1.0}, "'hidden'"),
        ({"soft": 0.0}, "nothing"),
        ({"attention": math.inf}, "'attention'"),
    ):
        with pytest.raises(ValueError, match=words):
            Distillation(**wrong)
