"""What a few runs with different seeds can tell: standard errors, bootstrap intervals, and how many seeds it takes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special  # and not scipy.stats, which takes a second to import

MOST_SEEDS = 10_000


@dataclass(frozen=True)
class MeanDifference:
    """Mean of b minus mean of a · error: its standard error · low, high: the 95 % bootstrap interval · welch: the p of
    Welch's t-test, None where neither group varies."""

    mean: float
    error: float
    low: float
    high: float
    welch: float | None

    @property
    def clear(self) -> bool:
        """Whether the bootstrap interval excludes zero."""
        return self.low > 0 or self.high < 0


def standard_error(values: Sequence[float]) -> float:
    """Of the mean: standard deviation / √n. Raises ValueError for fewer than two values."""
    if len(values) < 2:
        raise ValueError("one run has no spread: a standard error needs two or more")
    return statistics.stdev(values) / math.sqrt(len(values))


def gap(a: Sequence[float], b: Sequence[float], *, samples: int = 10_000, seed: int = 0) -> MeanDifference:
    """b against a, each the scores of runs that differ in their seed alone; two or more each.

    The interval: of means of runs drawn with replacement, the middle 95 % (percentile bootstrap, Efron 1979).
    """
    errors = standard_error(a), standard_error(b)
    error = math.hypot(*errors)
    rng = np.random.default_rng(seed)
    draws = [rng.choice(np.asarray(x, float), (samples, len(x))).mean(axis=1) for x in (a, b)]
    low, high = np.quantile(draws[1] - draws[0], [0.025, 0.975])
    mean, welch = statistics.fmean(b) - statistics.fmean(a), None
    if error:
        freedom = error**4 / sum(e**4 / (len(x) - 1) for e, x in zip(errors, (a, b), strict=True))  # Welch 1947
        welch = 2 * float(special.stdtr(freedom, -abs(mean) / error))
    return MeanDifference(mean, error, float(low), float(high), welch)


def power(difference: float, deviation: float, seeds: int, alpha: float = 0.05) -> float:
    """The chance that a two-sided t-test finds a true `difference` between two settings with `seeds` runs each, whose
    scores have the standard `deviation` (Cohen 1988, §2): from the noncentral t distribution."""
    freedom = 2 * seeds - 2
    shift = abs(difference) / deviation * math.sqrt(seeds / 2)
    edge = special.stdtrit(freedom, 1 - alpha / 2)
    beyond = special.nctdtr(freedom, shift, -edge) + 1 - special.nctdtr(freedom, shift, edge)
    return float(beyond)


def seeds_needed(difference: float, deviation: float, chance: float = 0.8, alpha: float = 0.05) -> int | None:
    """Runs of each setting, so that `power` is at least `chance`; None where more than MOST_SEEDS would be needed.

    Raises ValueError unless difference and deviation are greater than 0.
    """
    if not (difference > 0 and deviation > 0):
        raise ValueError("give a difference and a deviation greater than 0")
    low, high = 2, 2
    while power(difference, deviation, high, alpha) < chance:
        if high >= MOST_SEEDS:
            return None
        low, high = high, min(2 * high, MOST_SEEDS)
    while low < high:
        middle = (low + high) // 2
        if power(difference, deviation, middle, alpha) >= chance:
            high = middle
        else:
            low = middle + 1
    return low
