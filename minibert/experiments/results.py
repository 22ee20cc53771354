"""Reading recorded results and comparing them with the paper's. Needs no torch."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from minibert.text.json_values import json_value

REQUIRED = {
    "experiment",
    "arm",
    "seed",
    "metrics",
    "steps",
    "tokens",
    "parameters",
    "pretraining",
    "pretraining_seconds",
    "finetuning_seconds",
    "scale",
    "examples",
    "measured_on",
    "data",
    "command",
    "machine",
}


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
    """An arm minus another, over their common seeds: mean, and half its 95 % interval (None for a single seed).
    varies: False if several seeds give both arms the same value each, so that there is no spread to judge by · pairs:
    of the test set, if the interval is of draws of these (`experiments.paired`)."""

    mean: float
    half: float | None
    seeds: int
    varies: bool = True
    pairs: int = 0

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.half is not None and abs(self.mean) > self.half


def paired_difference(arm: Mapping[int, float], base: Mapping[int, float]) -> Difference | None:
    """Student's t interval of the differences seed by seed; None without a common seed."""
    from scipy.special import stdtrit  # imported late, and not all of scipy.stats, which takes a second

    seeds = [seed for seed in arm if seed in base]
    if not seeds:
        return None
    n, differences = len(seeds), [arm[seed] - base[seed] for seed in seeds]
    if n == 1:
        return Difference(differences[0], None, 1)
    half = float(stdtrit(n - 1, 0.975)) * statistics.stdev(differences) / math.sqrt(n)
    varies = any(len({values[seed] for seed in seeds}) > 1 for values in (arm, base))
    return Difference(statistics.fmean(differences), half, n, varies)


def share_of_way(score: float, floor: float, best: float, *, log: bool = False) -> float:
    """How far a score has come from `floor` (nothing understood) to `best`: 0 to 1, below 0 if worse than `floor`.

    log: compare logarithms, for perplexities.
    """
    if log:
        score, floor, best = map(math.log, (score, floor, best))
    return (score - floor) / (best - floor)


NOISE = 0.5  # points; a paper's difference below it is none
LEAST_LEARNED = 1 / 3  # share of the way; with less, differences between arms do not test the paper's claim
AT_CEILING = 0.9  # share of the best score; with more, no other arm can be far ahead
NO_VERDICT = ("too little learned", "nothing left to gain", "same in every seed", "not for this reason")
VERDICTS = ("agrees", "disagrees", "unclear", "no difference in the paper", "not in the paper", *NO_VERDICT)


def verdict(
    ours: Difference | None,
    sign: float | None,
    doubt: str | None = None,
    *,
    margin: float = 0.0,
    control: Difference | None = None,
) -> str:
    """Whether our difference between two arms has the same sign as the paper's: one of VERDICTS.

    sign: of the paper's difference; 0 if it has none, None if it does not say · doubt: why more seeds could not help,
    see `doubt_about` · margin: the claim is that no more than this is lost · control: the arm minus one that should
    gain less, if what the paper says is the reason.

    "unclear": our interval contains zero, so the difference may be due to the seeds (always so with a single seed).
    """
    if sign is None:
        return "not in the paper"
    if sign == 0:
        return "no difference in the paper"
    if doubt is not None:
        return doubt
    if ours is None or ours.half is None:
        return "unclear"
    if not ours.varies:
        return "same in every seed"
    gain = math.copysign(ours.mean, sign * ours.mean) + margin
    if abs(gain) <= ours.half:
        return "unclear"
    if gain < 0:
        return "disagrees"
    if control is not None and not (control.clear and control.mean * sign > 0):
        return "not for this reason"
    return "agrees"


def doubt_about(ahead: float, behind: float, floor: float, best: float | None, *, log: bool = False) -> str | None:
    """Why two scores cannot test the paper's claim; None if they can. ahead, behind: of the arms that are so in the
    paper · floor: what is had without understanding · best: the most there is to be had, if known; below the floor
    where lower is better."""
    learned = share_of_way(ahead, floor, best, log=log) if best is not None else ahead - floor
    if learned <= 0 or (best is not None and learned < LEAST_LEARNED):
        return "too little learned"
    return "nothing left to gain" if best is not None and best > floor and behind > AT_CEILING * best else None
