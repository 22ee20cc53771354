"""What runs with different seeds tell: against scipy, and against tables of power."""

import math

import numpy as np
import pytest
from scipy import stats

from minibert.experiments.seeds import gap, power, seeds_needed

A, B = [74.6, 76.2, 75.4], [78.2, 79.9, 77.8]


def test_a_gap_is_welchs_and_the_bootstraps():
    found = gap(A, B)
    assert found.mean == pytest.approx(sum(B) / 3 - sum(A) / 3)
    assert found.error == pytest.approx(math.hypot(stats.sem(A), stats.sem(B)))
    assert found.welch == pytest.approx(stats.ttest_ind(B, A, equal_var=False).pvalue)
    how = {"method": "percentile", "n_resamples": 20_000, "vectorized": True, "rng": 1}
    theirs = stats.bootstrap((B, A), lambda b, a, axis: b.mean(axis) - a.mean(axis), **how).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.15)
    assert found.clear and not gap(A, [74.0, 77.5, 76.0]).clear
    assert gap(A, B) == gap(A, B)


def test_runs_that_do_not_vary_and_a_single_one():
    found = gap([50.0, 50.0], [50.0, 50.0])
    assert (found.mean, found.error, found.welch, found.clear) == (0.0, 0.0, None, False)
    with pytest.raises(ValueError, match="two or more"):
        gap(A, [1.0])


@pytest.mark.parametrize(("effect", "runs"), [(0.2, 394), (0.5, 64), (0.8, 26), (1.0, 17), (2.0, 6)])
def test_seeds_needed_are_cohens(effect, runs):
    """Cohen 1988, table 2.4.1: two-sided 5 %, power 80 %. (394: his 393 comes from an approximation.)"""
    assert seeds_needed(effect * 3, 3.0) == runs
    assert power(effect * 3, 3.0, runs) >= 0.8 > power(effect * 3, 3.0, runs - 1)


def test_power_is_what_simulation_gives():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, (20_000, 5)), rng.normal(1.5, 1, (20_000, 5))
    found = (stats.ttest_ind(a, b, axis=1).pvalue < 0.05).mean()
    assert power(1.5, 1.0, 5) == pytest.approx(found, abs=4 * math.sqrt(0.25 / 20_000))


def test_what_cannot_be_found_is_said():
    assert seeds_needed(0.01, 5.0) is None
    with pytest.raises(ValueError, match="greater than 0"):
        seeds_needed(0.0, 1.0)
