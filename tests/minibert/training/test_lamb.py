"""LAMB, by hand from algorithm 2 of You et al. 2019, and beside AdamW."""

import pytest
import torch
from torch import nn

from minibert.finetune.settings import FinetuneSettings
from minibert.train import Optimization, optimizer_for
from minibert.training.lamb import Lamb, trust_ratio


def test_two_steps_by_hand():
    start = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
    w, rate, b1, b2, eps, decay = nn.Parameter(start.clone()), 0.1, 0.9, 0.99, 1e-6, 0.01
    lamb = Lamb([{"params": [w], "weight_decay": decay}], lr=rate, betas=(b1, b2), eps=eps)
    x, m, v = start, torch.zeros_like(start), torch.zeros_like(start)
    for t, g in enumerate(torch.tensor([[[1.0, -2.0]], [[0.5, 3.0]]], dtype=torch.float64), 1):
        w.grad = g.clone()
        lamb.step()
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        u = (m / (1 - b1**t)) / ((v / (1 - b2**t)).sqrt() + eps) + decay * x
        x = x - rate * x.norm() / u.norm() * u
        torch.testing.assert_close(w.detach(), x, rtol=1e-6, atol=0)


def test_biases_move_as_with_adamw_and_matrices_as_far_as_they_are_long_where_adamw_moves_them(twins):
    """Without decay both go along Adam's step; LAMB's is the rate times the matrix's length."""
    model, twin = twins
    options = {"learning_rate": 1e-2, "weight_decay": 0.0}
    lamb = optimizer_for(model, Optimization(optimizer="lamb", **options))
    adamw = optimizer_for(twin, Optimization(**options))
    before = [weight.detach().clone() for weight in model.parameters()]
    rng = torch.Generator().manual_seed(1)
    for one, other in zip(model.parameters(), twin.parameters(), strict=True):
        one.grad = torch.randn(one.shape, generator=rng)
        other.grad = one.grad.clone()
    lamb.step()
    adamw.step()
    for start, one, other in zip(before, model.parameters(), twin.parameters(), strict=True):
        if one.dim() < 2:
            assert torch.allclose(one, other, atol=1e-6)
        else:
            ours, theirs = one.detach() - start, other.detach() - start
            assert torch.cosine_similarity(ours.flatten(), theirs.flatten(), dim=0) == pytest.approx(1, abs=1e-5)
            assert ours.norm() == pytest.approx(1e-2 * start.norm().item(), rel=1e-3)


@pytest.mark.parametrize(("weight", "step"), [(torch.zeros(2, 2), torch.ones(2, 2)), (torch.ones(2), torch.zeros(2))])
def test_without_a_length_the_ratio_is_one(weight, step):
    assert trust_ratio(weight, step) == 1


def test_adam_without_bias_correction_is_refused():
    with pytest.raises(ValueError, match="LAMB does not go with it"):
        FinetuneSettings(epochs=1, bias_correction=False, optimization=Optimization(optimizer="lamb"))
