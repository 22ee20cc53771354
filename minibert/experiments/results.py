"""Recorded results: reading them, and what they say beside the paper's. Needs no torch."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from minibert.text.json_values import json_value

REQUIRED = {
    "experiment", "arm", "seed", "metrics", "steps", "tokens", "parameters", "pretraining", "pretraining_seconds",
    "finetuning_seconds", "scale", "examples", "measured_on", "data", "command", "machine",
}  # fmt: skip


class ResultsError(ValueError):
    """A results file that cannot be read; the message names the line."""


def read_records(path: str | Path, required: set[str] = REQUIRED) -> list[dict]:
    """The records of a results file, in order; none if there is no such file. A last line that was cut off while it was
    written is left out. Raises ResultsError for any other line that is no record with the `required` fields."""
    path = Path(path)
    if not path.exists():
        return []
    records = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: not UTF-8 ({error.reason})") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if not isinstance(record := json_value(line), dict):
                raise ValueError("no object")
            missing = required - set(record)
        except ValueError as error:
            if number == len(lines):
                break  # no newline after it: the run was killed in the middle of writing
            raise ResultsError(f"{path}, line {number}: not a record ({error})") from error
        if missing:
            raise ResultsError(f"{path}, line {number}: the record lacks {', '.join(sorted(missing))}")
        records.append(record)
    return records


def by_arm(records: Sequence[Mapping], metric: str) -> dict[str, dict[int, float]]:
    """arm → seed → value of `metric`, arms in the order of the records; a later record of the same run counts."""
    values: dict[str, dict[int, float]] = {}
    for record in records:
        if metric in record["metrics"]:
            values.setdefault(record["arm"], {})[record["seed"]] = record["metrics"][metric]
    return values


@dataclass(frozen=True)
class Difference:
    """An arm minus another, over the seeds both have: mean, half the width of its 95 % interval (None for one)."""

    mean: float
    half: float | None
    seeds: int

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.half is not None and abs(self.mean) > self.half


def paired_difference(arm: Mapping[int, float], base: Mapping[int, float]) -> Difference | None:
    """Student's t interval of the differences seed by seed; None without a common seed."""
    from scipy.stats import t as student  # here: it takes longer to import than all of a page's results to read

    differences = [arm[seed] - base[seed] for seed in arm if seed in base]
    if not differences:
        return None
    n = len(differences)
    half = None
    if n > 1:
        half = float(student.ppf(0.975, n - 1)) * statistics.stdev(differences) / math.sqrt(n)
    return Difference(statistics.fmean(differences), half, n)


def share_of_way(score: float, floor: float, best: float, *, log: bool = False) -> float:
    """How far a score has come from `floor`, where nothing is understood, to `best`: 0 to 1, below 0 if it is worse.

    log: of a perplexity, which halves where a score grows by a step.
    """
    if log:
        score, floor, best = map(math.log, (score, floor, best))
    return (score - floor) / (best - floor)


LEAST_LEARNED = 1 / 3  # of that way: below it, what an arm does better or worse is not what the paper speaks of
NO_VERDICT = ("too little learned", "another task")
VERDICTS = ("agrees", "disagrees", "unclear", "no difference in the paper", "not in the paper", *NO_VERDICT)


def verdict(ours: Difference | None, paper: float | None, doubt: str | None = None) -> str:
    """Does our difference to another arm point where the paper's does? One of VERDICTS.

    doubt: one of NO_VERDICT, if no seeds could settle it: no arm has come far enough on this task, or the paper's
    numbers are of another one.

    "unclear": our interval holds zero, so the seeds' spread could have made the difference (with a single seed nothing
    else can be said) · paper: its difference, or its sign; 0 if both its numbers are equal, None if it tells nothing.
    """
    if paper is None:
        return "not in the paper"
    if paper == 0:
        return "no difference in the paper"
    if doubt is not None:
        return doubt
    if ours is None or not ours.clear:
        return "unclear"
    return "agrees" if (ours.mean > 0) == (paper > 0) else "disagrees"
