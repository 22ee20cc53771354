"""The family tree as data: each model's parent, what it changed, and its number of weights – counted where the parts
are known, by the formulas of `minibert.count` or one in the data file with the same letters."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from minibert.count import FAMILY, CostTerm, Shape, parameters
from minibert.relatives import relative_named, shape_of

KINDS = ("data", "objective", "mask", "network", "size", "knowledge", "use")


@dataclass(frozen=True)
class Size:
    """One published size. weights: their number, without task heads · formula, numbers: how they were counted, in
    letters and in numbers; "" where the paper's number is used."""

    name: str
    weights: int
    formula: str = ""
    numbers: str = ""

    @property
    def counted(self) -> bool:
        return bool(self.formula)


@dataclass(frozen=True)
class FamilyMember:
    """One model. date: the month of its first public version, YYYY-MM · parent: whose changed copy it is, "" for a root
    · changed: of KINDS, the most important first · page: the lesson that takes it apart, "" where there is none ·
    tokens: read in pre-training by its largest size, 0 if not published · least_tokens: the same by the lengths of its
    rows, where `tokens` takes all for full ones; else 0."""

    name: str
    date: str
    by: str
    paper: str
    changed: tuple[str, ...]
    what: str
    sizes: tuple[Size, ...]
    parent: str = ""
    page: str = ""
    tokens: int = 0
    least_tokens: int = 0

    @property
    def months(self) -> int:
        """Since the beginning of the year 0."""
        year, month = map(int, self.date.split("-"))
        return 12 * year + month - 1


@lru_cache
def family(file: str | Path) -> Mapping[str, FamilyMember]:
    """Name → model, by date, of a file of [[model]]. Raises ValueError for an unknown parent, one that
    came later, an unknown kind of change, two of one name."""
    told = tomllib.loads(Path(file).read_text(encoding="utf-8"))["model"]
    members: dict[str, FamilyMember] = {}
    for values in told:
        member = FamilyMember(
            **{**values, "changed": tuple(values["changed"]), "sizes": tuple(size_of(one) for one in values["sizes"])}
        )
        if member.name in members:
            raise ValueError(f"{member.name} stands there twice")
        if unknown := set(member.changed) - set(KINDS):
            raise ValueError(f"{member.name}: {sorted(unknown)[0]} is not one of {', '.join(KINDS)}")
        members[member.name] = member
    for member in members.values():
        if member.parent and member.parent not in members:
            raise ValueError(f"{member.name}: its parent {member.parent} is not there")
        if member.parent and members[member.parent].months > member.months:
            raise ValueError(f"{member.name} came before its parent {member.parent}")
    return dict(sorted(members.items(), key=lambda one: one[1].months))


def size_of(told: Mapping[str, Any]) -> Size:
    """A size from its entry. shape: a name in FAMILY · encoder: fields of the config, preset, pooler · relative: whose
    config, by default BERT's · formula, letters: see `minibert.count` · said: in millions."""
    name = told["name"]
    if "said" in told:
        return Size(name, round(told["said"] * 1e6))
    if "formula" in told:
        part = CostTerm(name, "", told["formula"], told["letters"])
        return Size(name, part.one, part.formula, part.numbers)
    count = parameters(_shape(told))
    parts = [part for part in count.parts if part.name.startswith(("embeddings.", "block.", "pooler"))]
    return Size(name, count.with_pooler, *(" + ".join(map(term, _merged(parts))) for term in (_letters, _numbers)))


def _shape(told: Mapping[str, Any]) -> Shape:
    if "shape" in told:
        return FAMILY[told["shape"]]
    fields = dict(told["encoder"])
    pooler, preset = fields.pop("pooler", True), fields.pop("preset", "base")
    shape = shape_of(relative_named(told.get("relative", "bert")).config.preset(preset, **fields))
    return shape if pooler else replace(shape, pooler=False, objective="mlm")


def _merged(parts: Sequence[CostTerm]) -> list[CostTerm]:
    """Parts with the same formula become one, their `times` added up."""
    merged: dict[str, CostTerm] = {}
    for part in parts:
        before = merged.get(part.formula)
        merged[part.formula] = part if before is None else replace(before, times=before.times + part.times)
    return list(merged.values())


def _letters(part: CostTerm) -> str:
    return part.formula if part.times == 1 else f"{part.times}·({part.formula})"


def _numbers(part: CostTerm) -> str:
    return part.numbers if part.times == 1 else f"{part.times}·({part.numbers})"


def line_of(members: Mapping[str, FamilyMember], name: str) -> list[str]:
    """A model and those it came from, the oldest first."""
    line = [name]
    while parent := members[line[0]].parent:
        line.insert(0, parent)
    return line


def children_of(members: Mapping[str, FamilyMember], name: str) -> list[str]:
    """Those that came directly from a model, by date."""
    return [member.name for member in members.values() if member.parent == name]
