"""How far a step goes, from the optimizer itself: against Adam's own formula, and the rate of each layer."""

import math

import pytest

from minibert.finetune.learning_rates import layer_rates, step_lengths
from minibert.finetune.option_effects import FreshLearner
from minibert.finetune.settings import FinetuneSettings
from minibert.train import Optimization
from tests.minibert.tasks.toys import toy

OPTIMIZATION = Optimization(learning_rate=3e-4, warmup=0.1)


def test_a_step_is_the_learning_rate_or_without_correction_too_long_by_adams_own_factors():
    """Kingma and Ba 2015, algorithm 1: m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ)."""
    n = 100
    corrected = step_lengths(FinetuneSettings(optimization=OPTIMIZATION), n)
    assert corrected == pytest.approx([OPTIMIZATION.rate_at((t + 0.5) / n) for t in range(n)], rel=1e-5)
    without = step_lengths(FinetuneSettings(optimization=OPTIMIZATION, bias_correction=False), n)
    factors = [b / a for a, b in zip(corrected, without, strict=True)]
    assert factors == pytest.approx([(1 - 0.9**t) / math.sqrt(1 - 0.999**t) for t in range(1, n + 1)], rel=1e-3)
    assert [factors[0], factors[11], factors[99]] == pytest.approx([3.16, 6.57, 3.24], abs=0.01)
    assert max(factors) == factors[11]


@pytest.mark.parametrize(
    ("decay", "freeze"), [(1.0, "none"), (0.5, "none"), (0.9, "embeddings"), (0.5, 1), (1.0, "all")]
)
def test_layer_rates(small_checkpoint, decay, freeze):
    settings = FinetuneSettings(layer_decay=decay, freeze=freeze, optimization=OPTIMIZATION)
    learner = FreshLearner.of(small_checkpoint, "classification", toy("classification", 8, 0), settings).learner
    rates = layer_rates(learner, settings)
    assert [one.depth for one in rates] == [0, 1, 2, 3]
    still = {"none": 0, "embeddings": 1, 1: 2, "all": 3}[freeze]
    expected = [0.0 if i < still else 3e-4 * decay ** (3 - i) for i in range(4)]
    assert [one.rate for one in rates] == pytest.approx(expected)
    assert sum(one.weights for one in rates) == sum(weight.numel() for weight in learner.parameters())
