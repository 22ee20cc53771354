"""Predicted entities compared with the true ones: right, or which error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from minibert.tasks.tagging import entities

Place = tuple[int, int, str]  # first word, word after the last, type

OUTCOMES = ("right", "border", "type", "both", "missed", "invented")


@dataclass(frozen=True)
class EntityOutcome:
    """kind: one of OUTCOMES; "border" or "type": only that is wrong, "both": both are. truth is None for "invented",
    said for "missed"."""

    kind: str
    truth: Place | None = None
    said: Place | None = None

    @property
    def place(self) -> Place:
        """The true one, else the predicted one."""
        return self.truth or self.said or (0, 0, "")


def compare_entities(truth: Sequence[str], said: Sequence[str]) -> list[EntityOutcome]:
    """Each entity of either sequence of IOB2 tags once, in the order of the text.

    Identical entities are matched first, then those with the same words, then those that overlap: the same type before
    another, the larger overlap before the smaller. So "right" counts exactly what seqeval counts as hits.
    """
    left, right = entities(truth), entities(said)
    outcomes = []
    rules = (
        ("right", lambda a, b: a == b),
        ("type", lambda a, b: a[:2] == b[:2]),
        ("border", lambda a, b: a[2] == b[2]),
        ("both", lambda a, b: True),
    )
    for kind, fits in rules:
        pairs = sorted((-overlap(a, b), a, b) for a in left for b in right if overlap(a, b) > 0 and fits(a, b))
        for _, a, b in pairs:
            if a in left and b in right:
                left.remove(a)
                right.remove(b)
                outcomes.append(EntityOutcome(kind, a, b))
    outcomes += [EntityOutcome("missed", truth=a) for a in left]
    outcomes += [EntityOutcome("invented", said=b) for b in right]
    return sorted(outcomes, key=lambda one: one.place[:2])


def overlap(one: Place, other: Place) -> int:
    """Number of words in both; 0 or less if there are none."""
    return min(one[1], other[1]) - max(one[0], other[0])


def count_outcomes(rows: Iterable[tuple[Sequence[str], Sequence[str]]]) -> dict[str, dict[str, int]]:
    """type → count of each of OUTCOMES, for (truth, said) sequences of tags. A mistake counts for the true type, an
    invented entity for the predicted one."""
    counts: dict[str, dict[str, int]] = {}
    for truth, said in rows:
        for one in compare_entities(truth, said):
            kind = one.place[2]
            counts.setdefault(kind, dict.fromkeys(OUTCOMES, 0))[one.kind] += 1
    return dict(sorted(counts.items()))
