"""What a claim is about where the records hold only what it is made of: records in, records out. Needs no torch."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

ABOVE_CHANCE = 1.0  # points of accuracy; a run that is not further above the commonest class has failed


def failed(records: Sequence[dict]) -> list[dict]:
    """`stability`: of each seed's runs with bias correction, and of those without, the share that `failed`."""
    runs: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for one in {(one["arm"], one["seed"]): one for one in records}.values():
        above = 100 * (one["metrics"]["accuracy"] - one["majority"])
        arm = "corrected" if one["settings"]["bias_correction"] else "uncorrected"
        runs[arm, one["seed"]].append(above <= ABOVE_CHANCE)
    return [
        {**records[-1], "arm": arm, "seed": seed, "metrics": {"failed": statistics.fmean(lost)}}
        for (arm, seed), lost in runs.items()
    ]


def follows(records: Sequence[dict]) -> list[dict]:
    """`cues` on HANS: `follows`, how much more often it is right that one sentence follows from the other than that it
    does not, over the three heuristics."""
    found = []
    for one in records:
        if "hans" in one["metrics"]:
            right: dict[str, list[float]] = defaultdict(list)
            for row in one["metrics"]["hans"]:
                right[row["label"]].append(row["accuracy"])
            gap = statistics.fmean(right["entailment"]) - statistics.fmean(right["non-entailment"])
            found.append({**one, "metrics": {"follows": gap}})
    return found


def ranks(records: Sequence[dict], metric: str, paper: Mapping[str, float]) -> list[dict]:
    """A record a seed of the arm "rows": `ranks`, the rank correlation of the paper's numbers with ours, over all arms
    that the paper has, where the seed has them."""
    from minibert.training.statistics import rank_correlation

    found: dict[int, dict[str, float]] = defaultdict(dict)
    for one in records:
        if one["arm"] in paper and metric in one["metrics"]:
            found[one["seed"]][one["arm"]] = one["metrics"][metric]
    return [
        {**records[-1], "arm": "rows", "seed": seed, "metrics": {"ranks": rank_correlation([*paper.values()], ours)}}
        for seed, by in found.items()
        if len(ours := [by[arm] for arm in paper if arm in by]) == len(paper)
    ]


DERIVED: dict[str, Callable[[Sequence[dict]], list[dict]]] = {"failed": failed, "follows": follows}
