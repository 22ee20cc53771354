"""Statistics that several lessons use. No torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

Z95 = 1.959964  # of the normal distribution, two-sided 95 %


def wilson(count: float, n: int) -> tuple[float, float]:
    """95 % interval for a share, of which `count` / `n` was observed (Wilson 1927); (0, 1) for n = 0."""
    if n == 0:
        return 0.0, 1.0
    share, spread = count / n, Z95 * Z95 / n
    middle = share + spread / 2
    half = Z95 * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def area(scores: ArrayLike, positive: ArrayLike) -> float:
    """Area under the ROC curve: the probability that a positive has a higher score than a negative, ties counting half
    (Mann and Whitney 1947). NaN if there are no positives or no negatives."""
    positive = np.asarray(positive, bool)
    ours, theirs = int(positive.sum()), int((~positive).sum())
    if not ours or not theirs:
        return math.nan
    ranks = _ranks(np.asarray(scores, float))
    return float((ranks[positive].sum() - ours * (ours + 1) / 2) / (ours * theirs))


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's ρ of two sequences of N numbers: 1 for the same order, −1 for the opposite; ties share their mean
    rank. NaN for N < 3, and where all numbers of one sequence are equal."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(_ranks(x), _ranks(y))[0, 1])


def _ranks(numbers: np.ndarray) -> np.ndarray:
    """1 for the smallest; ties share their mean rank."""
    import pandas as pd  # which a page has already; scipy.stats would take a second

    return pd.Series(numbers).rank().to_numpy()


def rank_interval(rho: float, n: int) -> tuple[float, float]:
    """95 % interval for Spearman's ρ of n pairs: Fisher's z with the error √((1 + ρ²/2) / (n − 3)) (Bonett and Wright
    2000). (−1, 1) for fewer than 4."""
    if n < 4:
        return -1.0, 1.0
    middle = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, rho)))
    half = Z95 * math.sqrt((1 + rho * rho / 2) / (n - 3))
    return math.tanh(middle - half), math.tanh(middle + half)


def drawn_anew(
    measure: Callable[[np.ndarray], Mapping[str, float]], n: int, draws: int = 200, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """95 % interval of each score under another choice of the n examples: they are drawn anew, with replacement
    (percentile bootstrap, Efron 1979). measure: the scores of the examples at these places."""
    rng = np.random.default_rng(seed)
    scores = [measure(rng.integers(n, size=n)) for _ in range(draws)]
    ends = {name: np.quantile([one[name] for one in scores], (0.025, 0.975)) for name in scores[0]}
    return {name: (float(low), float(high)) for name, (low, high) in ends.items()}
