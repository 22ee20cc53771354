"""The Transformer's sinusoids, against the formula."""

import math

import pytest

from minibert.text.position_vectors import sinusoids


@pytest.mark.parametrize(("length", "size"), [(50, 6), (3, 5), (512, 128), (1, 1)])
def test_they_are_the_formula(length, size):
    """PE(pos, 2i) = sin(pos / 10000^(2i/H)), PE(pos, 2i+1) its cosine (Vaswani et al. 2017, §3.5)."""
    table = sinusoids(length, size)
    assert table.shape == (length, size)
    for position in {0, length // 3, length - 1}:
        angles = (position / 10000 ** ((i - i % 2) / size) for i in range(size))
        expected = [math.cos(angle) if i % 2 else math.sin(angle) for i, angle in enumerate(angles)]
        assert table[position].tolist() == pytest.approx(expected, abs=5e-5)
