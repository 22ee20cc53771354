"""What the papers claim, beside our recorded results: `claims.toml` as comparisons of two arms, each with its verdict.
Needs no torch."""

from __future__ import annotations

import math
import statistics
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from minibert.experiments.derived import DERIVED, ranks
from minibert.experiments.results import (
    NOISE,
    Difference,
    by_arm,
    doubt_about,
    paired_difference,
    read_records,
    share_of_way,
    verdict,
)
from minibert.folders import results_to_read

# Metrics that are not shares of 1, shown in percent: their units.
UNITS = {"mlm_perplexity": "", "joint_at_once": "nats", "joint_in_order": "nats", "loss": "nats", "nats": "nats"}
UNITS |= {"milliseconds": "ms", "agreement": "", "ranks": ""}
LOWER = {"mlm_perplexity", "loss", "nats", "milliseconds", "failed"}  # metrics of which lower is better
PAIRED = "paired.jsonl"  # differences of arms without randomness, by `experiments.paired`

Values = dict[str, dict[int, float]]  # arm → seed → value


@dataclass(frozen=True)
class Claim:
    """An arm in `metric` minus `base` in `other`: the paper's difference, or its sign alone, and ours is compared.

    what: in words; "" for an arm of a column · base: None for a comparison with 0 · paper: None if it has no number ·
    sign: None if the paper does not say, 0 if it has no difference · margin, keeps: the claim is that no more is lost,
    that this share is kept · control: an arm that should gain less.
    """

    arm: str
    base: str | None
    metric: str
    sign: float | None
    source: str
    what: str = ""
    other: str | None = None
    paper: float | None = None
    margin: float = 0.0
    keeps: float | None = None
    control: str | None = None

    @property
    def said(self) -> str:
        """Such as "who_is_meant: electra − bert"."""
        base = "0" if self.base is None else f"{self.base}, {self.other}" if self.other else self.base
        return f"{self.metric}: {self.arm} − {base}"


@dataclass(frozen=True)
class Judged:
    """A claim with our difference, None without a common seed, and one of VERDICTS. floor: what is had without
    understanding, if known · ceiling: the most there is to be had, if known · share: how far the arm that is ahead in
    the paper has come from one to the other."""

    claim: Claim
    ours: Difference | None
    verdict: str
    floor: float | None = None
    ceiling: float | None = None
    share: float | None = None


@cache
def tables() -> dict[str, dict]:
    """All of `claims.toml`."""
    return tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))


def claims(name: str) -> list[Claim]:
    """The comparisons of a table, by column and arm, then its `direction`s."""
    table, found = tables()[name], list[Claim]()
    for column in table.get("column", ()):
        for metric in column.get("metrics", [column.get("metric")]):
            found += of_column(table, column, metric)
    control = table.get("control", {})
    for one in table.get("direction", ()):
        values = {"sign": None, "base": None, "control": control.get(one["arm"]), **one}
        found.append(Claim(**values))
    return found


def column_of(table: dict, metric: str) -> dict:
    """The table's column beside `metric`."""
    return next(one for one in table["column"] if metric in one.get("metrics", [one.get("metric")]))


def of_column(table: dict, column: dict, metric: str) -> Iterator[Claim]:
    """Each arm that the metric says something of, against the table's first arm or those of its `against`."""
    arms, values = list(table["arms"]), column.get("values", {})
    for arm in arms:
        for base in table.get("against", {}).get(arm, arms[:1]):
            if arm == base or {arm, base} & set(column.get("without", ())):
                continue
            paper, sign = None, column.get("signs", {}).get(arm)
            if arm in values and base in values:
                paper = round(values[arm] - values[base], 6)
                sign = 0 if abs(paper) < column.get("noise", NOISE) else paper
            yield Claim(
                arm,
                base,
                metric,
                sign,
                table["source"],
                paper=paper,
                control=table.get("control", {}).get(arm),
            )


def results_of(name: str) -> Path:
    """The file with the recorded results of a table."""
    return results_to_read(f"{tables().get(name, {}).get('results', name)}.jsonl")


def recorded(name: str, records: Sequence[dict]) -> list[dict]:
    """Of the records in `results_of(name)`, those made at the same scale as the last one, each arm's from the same text
    as its own last one; with what the table derives from them."""
    table = tables().get(name, {})
    if records and "derived" in table:
        records = DERIVED[table["derived"]](records)
    if records and "order" in table:
        column = column_of(table, table["order"])
        records = [*records, *ranks(records, table["order"], column["values"])]
    return newest(records)


def newest(records: Sequence[dict]) -> list[dict]:
    found = [one for one in records if one.get("scale") == records[-1].get("scale")]
    data = {one["arm"]: one.get("data") for one in found}
    return [one for one in found if one.get("data") == data[one["arm"]]]


def factor(metric: str) -> int:
    """Of a recorded value: shares are shown in percent, as the papers print them, all others as they are."""
    return 1 if metric in UNITS else 100


def values(records: Sequence[dict], metric: str) -> Values:
    """arm → seed → value, as it is shown."""
    found = by_arm(records, metric)
    return {arm: {seed: factor(metric) * value for seed, value in seeds.items()} for arm, seeds in found.items()}


def levels(name: str, metric: str, records: Sequence[dict]) -> tuple[float | None, float | None]:
    """(what is had without understanding, the most there is to be had) of a table's metric, None if not known for what
    was measured."""
    if not records:
        return None, None
    last, every, table = records[-1], tables(), tables()[name]
    ceilings = every["ceiling"] | table.get("ceilings", {})
    floors = []
    if metric in last.get("floor", {}):
        floors.append(factor(metric) * last["floor"][metric])
    if "--tasks" in last.get("command", "").split():  # texts of the user's own
        return max(floors, default=None), ceilings.get(metric)
    if metric in table.get("floors", {}):
        floors.append(table["floors"][metric])
    elif floor := every["floor"].get(metric):
        facts = {"data": last.get("data"), **last.get("scale", {})}
        facts |= {name: last[name][metric] for name in ("measured_on", "examples") if metric in named(last, name)}
        if all(facts.get(name) == fact for name, fact in floor["of"].items()):
            floors.append(floor["value"])
    return max(floors, default=None), ceilings.get(metric)


def named(record: dict, field: str) -> dict:
    """A field with a value by metric; {} if it is one number for all."""
    return record[field] if isinstance(record.get(field), dict) else {}


@cache
def paired_differences(file: Path) -> dict[tuple[str, str, str, str], Difference]:
    """(results, metric, arm, base) → their difference over draws of the test pairs, as it is shown."""
    found = {}
    for one in read_records(file, set()):
        key, times = (one["results"], one["metric"], one["arm"], one["base"]), factor(one["metric"])
        found[key] = Difference(times * one["mean"], times * one["half"], 1, pairs=one["pairs"])
    return found


def difference(name: str, claim: Claim, records: Sequence[dict]) -> Difference | None:
    """The claim's arm minus its base over their common seeds; if these all give the same number, over draws of the test
    pairs, where that has been recorded."""
    arm = values(records, claim.metric).get(claim.arm, {})
    base = values(records, claim.other or claim.metric).get(claim.base, {}) if claim.base else dict.fromkeys(arm, 0.0)
    ours = paired_difference(arm, base)
    if ours is None or ours.varies or claim.other:
        return ours
    if claim.base is None:  # 0 is the same in every seed, and what runs with several seeds have in common may be
        return replace(ours, varies=True)
    key = tables()[name].get("results", name), claim.metric, claim.arm, claim.base
    over_pairs = paired_differences(results_to_read(PAIRED)).get(key)
    same = over_pairs is not None and math.isclose(over_pairs.mean, ours.mean, abs_tol=0.01)
    return over_pairs if same else ours  # not of other weights than those of the record


def judge(name: str, claim: Claim, records: Sequence[dict]) -> Judged:
    """A claim of the table beside the recorded results."""
    ours, (floor, ceiling) = difference(name, claim, records), levels(name, claim.metric, records)
    if ours is None or not claim.sign:
        return Judged(claim, ours, verdict(ours, claim.sign), floor, ceiling)
    arms = values(records, claim.metric)
    others = values(records, claim.other or claim.metric)
    arm, base = (statistics.fmean(seeds.values()) for seeds in (arms[claim.arm], others.get(str(claim.base), {0: 0.0})))
    doubt = share = None
    if floor is not None:
        log = claim.metric.endswith("perplexity")
        ahead, behind = (arm, base) if (claim.sign > 0) != (claim.metric in LOWER) else (base, arm)
        share = None if ceiling is None else share_of_way(ahead, floor, ceiling, log=log)
        doubt = doubt_about(ahead, behind, floor, ceiling, log=log)
    margin = claim.margin if claim.keeps is None else (1 - claim.keeps) * base
    control = paired_difference(arms[claim.arm], arms.get(claim.control, {})) if claim.control else None
    said = verdict(ours, claim.sign, doubt, margin=margin, control=control)
    return Judged(claim, ours, said, floor, ceiling, share)


def judged(name: str, records: Sequence[dict], metric: str | None = None) -> list[Judged]:
    """The claims of a table, or those about `metric` alone, whose arms have both been recorded."""
    found = [judge(name, claim, records) for claim in claims(name) if metric in (None, claim.metric)]
    return [one for one in found if one.ours is not None]


def all_judged() -> Iterator[tuple[str, Judged]]:
    """(table, claim with its verdict) of all that has been recorded."""
    for name, table in tables().items():
        if {"column", "direction"} & set(table):
            for one in judged(name, recorded(name, read_records(results_of(name), set()))):
                yield name, one
