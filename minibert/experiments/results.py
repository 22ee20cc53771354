"""Reading recorded results and comparing them with the paper's. Needs no torch."""

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
    """The records of a results file, in order; [] if there is no such file. A last line without its end (the run was
    killed) is left out. Raises ResultsError for any other line that is not a record with the `required` fields."""
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
    """arm → seed → value of `metric`, arms in the order of the records; the last record of an arm and seed counts."""
    values: dict[str, dict[int, float]] = {}
    for record in records:
        if metric in record["metrics"]:
            values.setdefault(record["arm"], {})[record["seed"]] = record["metrics"][metric]
    return values


@dataclass(frozen=True)
class Difference:
    """An arm minus another, over their common seeds: mean, and half its 95 % interval (None for a single seed)."""

    mean: float
    half: float | None
    seeds: int

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.half is not None and abs(self.mean) > self.half


def paired_difference(arm: Mapping[int, float], base: Mapping[int, float]) -> Difference | None:
    """Student's t interval of the differences seed by seed; None without a common seed."""
    from scipy.stats import t as student  # imported late: it takes longer than reading all results of a page

    differences = [arm[seed] - base[seed] for seed in arm if seed in base]
    if not differences:
        return None
    n = len(differences)
    half = None
    if n > 1:
        half = float(student.ppf(0.975, n - 1)) * statistics.stdev(differences) / math.sqrt(n)
    return Difference(statistics.fmean(differences), half, n)


def share_of_way(score: float, floor: float, best: float, *, log: bool = False) -> float:
    """How far a score has come from `floor` (nothing understood) to `best`: 0 to 1, below 0 if worse than `floor`.

    log: compare logarithms, for perplexities.
    """
    if log:
        score, floor, best = map(math.log, (score, floor, best))
    return (score - floor) / (best - floor)


LEAST_LEARNED = 1 / 3  # share of the way; with less, differences between arms do not test the paper's claim
NO_VERDICT = ("too little learned", "another task")
VERDICTS = ("agrees", "disagrees", "unclear", "no difference in the paper", "not in the paper", *NO_VERDICT)


def verdict(ours: Difference | None, paper: float | None, doubt: str | None = None) -> str:
    """Whether our difference between two arms has the same sign as the paper's: one of VERDICTS.

    doubt: one of NO_VERDICT, if more seeds could not help: no arm has learned enough on this task, or the paper's
    numbers are for another task.

    "unclear": our interval contains zero, so the difference may be due to the seeds (always so with a single seed) ·
    paper: its difference, or the sign alone; 0 if both its numbers are equal, None if it reports none.
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
