"""Models side by side on one blank, as safe HTML: predictions, attention and sentence-pair probability of each.

HTML instead of plotly: words wrap in narrow columns, type scales with the page, screen readers can read every number,
and it is drawn at once. All bars are on one scale, 0 to 1. The style sheet is beside the page's section.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A share from 0 to 1 with its name and formatted value. right: whether it is the correct one."""

    name: str
    share: float
    written: str
    right: bool = False


@dataclass(frozen=True)
class CardSection:
    """A picture with its finding as title. look: "bars" are horizontal, "words" are vertical bars over a text, "answer"
    is one bar with a line at one half. note: text below the bars, or instead of them · selected: index of a bar."""

    finding: str
    look: str
    bars: Sequence[Bar] = ()
    note: str = ""
    selected: int | None = None


@dataclass(frozen=True)
class Card:
    """The results of one model. about: a line under its name · parts: the same number for all cards."""

    name: str
    about: str
    parts: Sequence[CardSection]


def side_by_side(cards: Sequence[Card], label: str, waiting: bool = False) -> str:
    """The cards in columns, their parts aligned; all texts are escaped. waiting: whether results are still missing."""
    busy = ' aria-busy="true"' if waiting else ""
    shown = "".join(
        f"<article><header><h2>{_safe(card.name)}</h2><p>{_safe(card.about)}</p></header>"
        f"{''.join(map(_part, card.parts))}</article>"
        for card in cards
    )
    return f'<section class="mb-models" aria-label="{_safe(label)}"{busy}>{shown}</section>'


def _part(part: CardSection) -> str:
    draw = {"bars": _lying, "words": _standing, "answer": _answer}[part.look]
    bars = draw(part) if part.bars else ""
    note = f"<p>{_safe(part.note)}</p>" if part.note else ""
    return f'<div class="mb-part"><h3>{_safe(part.finding)}</h3>{bars}{note}</div>'


def _lying(part: CardSection) -> str:
    rows = "".join(
        f"<li{' class=mb-right' if bar.right else ''}><bdi>{_safe(bar.name)}{' ✓' if bar.right else ''}</bdi>"
        f'<span class="mb-scale" aria-hidden="true"><i style="width: {_length(bar)}"></i></span>'
        f"<b>{_safe(bar.written)}</b></li>"
        for bar in part.bars
    )
    return f'<ol class="mb-lying">{rows}</ol>'


def _standing(part: CardSection) -> str:
    current = {part.selected: ' aria-current="true"'}
    words = "".join(
        f'<li{current.get(index, "")} title="{_safe(bar.written)}">'
        f'<span class="mb-scale" aria-hidden="true"><i style="height: {_length(bar)}"></i></span>'
        f'<bdi>{_safe(bar.name)}</bdi><small class="mb-aloud">{_safe(bar.written)}</small></li>'
        for index, bar in enumerate(part.bars)
    )
    return f'<ol class="mb-standing" dir="auto">{words}</ol>'


def _answer(part: CardSection) -> str:
    bar = part.bars[0]
    return f'<div class="mb-answer mb-scale" aria-hidden="true"><i style="width: {_length(bar)}"></i></div>'


def _length(bar: Bar) -> str:
    return f"{100 * min(max(bar.share, 0.0), 1.0):.2f}%"


def _safe(text: str) -> str:
    return html.escape(text)
