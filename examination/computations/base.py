"""The parts of a computation."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from examination.numbers import number_text


@dataclass(frozen=True)
class Given:
    """A table shown with the question. cells: as text."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Field:
    """A number to be computed. tolerance: the error allowed in an answer."""

    label: str
    value: float
    decimals: int = 2

    @property
    def tolerance(self) -> float:
        """One unit of the last decimal; nothing for whole numbers."""
        return 10.0**-self.decimals if self.decimals else 0.0


@dataclass(frozen=True)
class DrawnComputation:
    """names: values for the question's text · wrong: (the fields' wrong numbers, the misunderstanding behind them)."""

    fields: tuple[Field, ...]
    given: tuple[Given, ...]
    names: dict[str, str]
    wrong: tuple[tuple[tuple[float, ...], str], ...]


@dataclass(frozen=True)
class Computation:
    """draw(rng, **one value of each option) → DrawnComputation, or None for an unlucky draw.

    options: name → (default values, allowed values).
    """

    draw: Callable[..., DrawnComputation | None]
    options: dict[str, tuple[tuple, tuple]]


COMPUTATIONS: dict[str, Computation] = {}


def computation(name: str, **options: tuple[Any, Any]):
    """Register a function under its name in the bank."""

    def enter(draw: Callable[..., DrawnComputation | None]):
        COMPUTATIONS[name] = Computation(draw, {k: (tuple(d), tuple(a)) for k, (d, a) in options.items()})
        return draw

    return enter


def table(title: str, rows: Sequence[str], columns: Sequence[str], values, decimals: int = 0) -> Given:
    """A matrix of numbers."""
    cells = tuple(tuple(number_text(float(value), decimals) for value in row) for row in values)
    return Given(title, tuple(rows), tuple(columns), cells)


def integers(rng: random.Random, *shape: int, low: int = -3, high: int = 3) -> list:
    """Uniformly drawn integers as nested lists."""
    if len(shape) == 1:
        return [rng.randint(low, high) for _place in range(shape[0])]
    return [integers(rng, *shape[1:], low=low, high=high) for _place in range(shape[0])]


SENTENCES = (
    ("the", "dog", "chased", "it"),
    ("she", "opened", "the", "door"),
    ("a", "cat", "saw", "him"),
    ("rain", "filled", "the", "river"),
    ("they", "sold", "the", "house"),
    ("he", "read", "her", "letter"),
)
