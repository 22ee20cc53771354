"""The loss over a whole vocabulary equals torch's own, and so do its gradients."""

import pytest
import torch
import torch.nn.functional as F

from minibert.config import IGNORE
from minibert.training import cross_entropy as module
from minibert.training.cross_entropy import cross_entropy


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(module, "PIECE", 100)  # three rows of 30 at once


def gradients(loss_of, dtype: torch.dtype, labels: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The loss, and its gradients for the vectors, for a matrix that they are taken from and multiplied with (as tied
    weights are), and for the bias."""
    rng = torch.Generator().manual_seed(0)
    matrix, bias = (torch.randn(*size, generator=rng).requires_grad_() for size in ((30, 8), (30,)))
    ids = torch.randint(30, (len(labels),), generator=rng)
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        x = 2 * matrix[ids]
        x.retain_grad()
        loss = 0.7 * loss_of(F.linear(x, matrix, bias), labels) + matrix.square().mean()
    loss.backward()
    return loss.detach(), x.grad, matrix.grad, bias.grad


def by_torch(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.float(), labels, ignore_index=IGNORE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_loss_and_gradients_are_those_of_torch(dtype):
    labels = torch.randint(30, (11,), generator=torch.Generator().manual_seed(1))
    labels[[0, 4, 10]] = IGNORE
    ours, theirs = gradients(cross_entropy, dtype, labels), gradients(by_torch, dtype, labels)
    tolerance = 1e-5 if dtype == torch.float32 else 2**-7  # bfloat16 keeps eight bits
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
    assert ours[0].dtype == torch.float32


def test_zero_without_any_label():
    labels = torch.full((11,), IGNORE)
    loss, *_, bias = gradients(cross_entropy, torch.float32, labels)
    assert loss.isfinite() and not bias.any()
