"""Entities that were meant beside entities that were said: right, or what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from minibert.tasks.tagging import entities

Place = tuple[int, int, str]  # first word, word after the last, type

OUTCOMES = ("right", "border", "type", "both", "missed", "invented")


@dataclass(frozen=True)
class EntityOutcome:
    """kind: one of OUTCOMES: "border" and "type" say what alone is wrong, "both" that both are; truth is None for what
    was invented, said for what was missed."""

    kind: str
    truth: Place | None = None
    said: Place | None = None


def compare_entities(truth: Sequence[str], said: Sequence[str]) -> list[EntityOutcome]:
    """Each entity of either row of IOB2 tags once, in the order of the text.

    What agrees entirely is matched first, then what stands at the same place, then what overlaps: of the same type
    before another one, the larger overlap before the smaller. So "right" counts as seqeval counts hits, and only that.
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
        pairs = sorted(
            (-overlap(a, b), a, b) for a in left for b in right if overlap(a, b) > 0 and fits(a, b)
        )  # fmt: skip
        for _, a, b in pairs:
            if a in left and b in right:
                left.remove(a)
                right.remove(b)
                outcomes.append(EntityOutcome(kind, a, b))
    outcomes += [EntityOutcome("missed", truth=a) for a in left]
    outcomes += [EntityOutcome("invented", said=b) for b in right]
    return sorted(outcomes, key=lambda one: (one.truth or one.said)[:2])


def overlap(one: Place, other: Place) -> int:
    """Words in both."""
    return min(one[1], other[1]) - max(one[0], other[0])


def count_outcomes(rows: Iterable[tuple[Sequence[str], Sequence[str]]]) -> dict[str, dict[str, int]]:
    """Of (truth, said) rows of tags: type → how often each of OUTCOMES. A mistake counts for the type that was meant,
    an invention for the type that was said."""
    counts: dict[str, dict[str, int]] = {}
    for truth, said in rows:
        for one in compare_entities(truth, said):
            kind = (one.truth or one.said)[2]
            counts.setdefault(kind, dict.fromkeys(OUTCOMES, 0))[one.kind] += 1
    return dict(sorted(counts.items()))
