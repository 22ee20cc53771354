"""Labelled examples, and what is wrong with the file they come from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from minibert.text.shortened import ShortError


class TaskDataError(ShortError):
    """A file that cannot be used; the message says where and what to do."""


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place. line, column: from 1; in JSON there is no line, and column is the path, such as
    `data[3].paragraphs[0].qas[2]`."""

    line: int | None
    column: int | str | None
    why: str

    @property
    def where(self) -> str:
        if self.line is None:
            return str(self.column or "")
        return f"line {self.line}" if self.column is None else f"line {self.line}, column {self.column}"

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


@dataclass(frozen=True)
class TaskData:
    """Examples in file order, and what is wrong with the file. declared: the label set if it is not derived.

    An example's `marks` are the labels it counts for.
    """

    examples: list
    problems: list[Problem] = field(default_factory=list)
    name: str = ""
    declared: tuple[str, ...] | None = None

    @property
    def counts(self) -> Counter[str]:
        return Counter(mark for example in self.examples for mark in example.marks)

    @property
    def labels(self) -> list[str]:
        """The declared labels, else those that occur, sorted (numbers by value): equal data give equal label ids."""
        return list(self.declared) if self.declared is not None else sorted(self.counts, key=label_order)

    @property
    def imbalance(self) -> Imbalance | None:
        """How unevenly the labels occur; None where there are none."""
        counted = self.counts
        counts = {label: counted[label] for label in self.labels}
        return Imbalance(counts, len(self.examples)) if counts else None

    def take(self, indices: Sequence[int]) -> TaskData:
        """Some of the examples, in the order of `indices`."""
        return TaskData([self.examples[i] for i in indices], self.problems, self.name, self.declared)


@dataclass(frozen=True)
class Imbalance:
    """Examples per label. `ratio`: largest count / smallest nonzero count; `majority`: share of the commonest label."""

    counts: dict[str, int]
    examples: int

    @property
    def ratio(self) -> float:
        seen = [count for count in self.counts.values() if count]
        return max(seen) / min(seen) if seen else 1.0

    @property
    def majority(self) -> float:
        return max(self.counts.values()) / sum(self.counts.values()) if any(self.counts.values()) else 0.0

    @property
    def missing(self) -> list[str]:
        """Declared labels without an example."""
        return [label for label, count in self.counts.items() if not count]

    def as_dict(self) -> dict:
        return {"counts": self.counts, "ratio": self.ratio, "majority": self.majority, "missing": self.missing}


def label_order(label: str) -> tuple[int, int, str]:
    """Sort key: whole numbers by value, then texts. A number of thousands of digits counts as a text."""
    return (0, int(label), label) if re.fullmatch(r"-?\d{1,300}", label) else (1, 0, label)
