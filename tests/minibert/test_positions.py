"""The Transformer's sinusoids, against the formula and against the other usual way to compute them."""

import math

import pytest
import torch

from minibert.positions import sinusoids


@pytest.mark.parametrize(("length", "size"), [(50, 6), (3, 5), (512, 128), (1, 1)])
def test_they_are_the_formula(length, size):
    """PE(pos, 2i) = sin(pos / 10000^(2i/H)), PE(pos, 2i+1) its cosine (Vaswani et al. 2017, §3.5)."""
    table = sinusoids(length, size)
    assert table.shape == (length, size)
    for position in {0, length // 3, length - 1}:
        for i in range(size):
            angle = position / 10000 ** ((i - i % 2) / size)
            expected = math.cos(angle) if i % 2 else math.sin(angle)
            assert table[position, i].item() == pytest.approx(expected, abs=5e-5)


def test_interleaving_gives_the_same_table():
    """Angles by division, sines and cosines stacked: what differs is rounding."""
    for length, size in ((512, 128), (9, 7)):
        angle = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, size, 2) / size)
        interleaved = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :size]
        assert torch.allclose(sinusoids(length, size), interleaved, atol=5e-5)
