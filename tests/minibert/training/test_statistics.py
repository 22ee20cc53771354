"""Intervals and correlations, against published values, scipy, statsmodels and pandas."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from minibert.training.statistics import drawn_anew, rank_correlation, rank_interval, wilson


def test_wilson_equals_newcombes_table_statsmodels_and_scipy():
    assert wilson(0, 0) == (0, 1)
    newcombe = {(0, 10): (0, 0.2775), (5, 10): (0.2366, 0.7634), (81, 263): (0.2553, 0.3662), (10, 10): (0.7225, 1)}
    for seen, limits in newcombe.items():  # 1998
        assert wilson(*seen) == pytest.approx(limits, abs=5e-5)
    statsmodels = {(3, 20): (0.0523725, 0.3604196), (0, 10): (0.0, 0.2775402)}  # stats.proportion
    for seen, limits in statsmodels.items():
        assert wilson(*seen) == pytest.approx(limits, abs=1e-5)
    for count, n in ((1, 7), (53, 104), (104, 104)):
        theirs = stats.binomtest(count, n).proportion_ci(method="wilson")
        assert wilson(count, n) == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_examples_drawn_anew_give_scipys_interval():
    x = np.random.default_rng(1).random(40)
    theirs = stats.bootstrap((x,), np.mean, method="percentile", n_resamples=4000, rng=2).confidence_interval
    ours = drawn_anew(lambda at: {"mean": x[at].mean()}, len(x), draws=4000)["mean"]
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.01)


@pytest.mark.filterwarnings("error")
def test_rank_correlation_agrees_with_pandas():
    x, y = torch.tensor([3.0, 1, 2, 2, 5]), np.array([0.1, 0.4, 0.4, 0.2, 0.9])
    expected = pd.Series(x.numpy()).corr(pd.Series(y), method="spearman")
    assert rank_correlation(x, y) == pytest.approx(expected, abs=1e-12)
    for unordered in (([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0, 0, 0])):
        assert math.isnan(rank_correlation(*unordered))


def test_rank_interval_covers_as_often_as_it_says():
    """Normal pairs with a known correlation: Spearman's is 6/π · asin(r/2) (Kruskal 1958)."""
    rng, r, n = np.random.default_rng(0), 0.6, 100
    true = 6 / math.pi * math.asin(r / 2)
    inside = 0
    for _ in range(400):
        x = rng.normal(size=n)
        low, high = rank_interval(rank_correlation(x, r * x + math.sqrt(1 - r * r) * rng.normal(size=n)), n)
        inside += low < true < high
    assert 0.92 <= inside / 400 <= 0.98
    assert rank_interval(0.9, 3) == (-1, 1)
    low, high = rank_interval(1.0, 50)
    assert 0.99 < low <= high <= 1
    low, high = rank_interval(0, 100)
    assert low == pytest.approx(-high)
