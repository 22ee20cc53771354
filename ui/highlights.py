"""Spans highlighted in a text, coloured and labelled, as safe HTML for `st.html`."""

import html
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ui.text import visible

LONGEST_WORD = 20  # characters by which an excerpt may shrink to begin or end between words
HUES = 7  # colours of the figures' palette, see style.css
_COMMON = {"PER": 0, "LOC": 2, "ORG": 1, "MISC": 3}
TRUTH, SAID, BOTH = 2, 5, 0  # hues of the true span, the predicted span, and their overlap


@dataclass(frozen=True)
class Highlight:
    """text[start:end], labelled `label`. hue: a number below HUES · dashed: a dashed border, for wrong predictions."""

    start: int
    end: int
    label: str
    hue: int
    dashed: bool = False


def marked_html(text: str, marks: Iterable[Highlight], label: str = "") -> str:
    """The text with its marks; where two overlap, the later one is left out."""
    parts, at = [], 0
    for mark in sorted(marks, key=lambda mark: (mark.start, mark.end)):
        if mark.start < at:
            continue
        dashed = " mb-dashed" if mark.dashed else ""
        name = f"<small>{_safe(mark.label)}</small>" if mark.label else ""
        parts.append(_safe(text[at : mark.start]))
        inside = _safe(text[mark.start : mark.end])
        parts.append(f'<mark class="mb-hue-{mark.hue}{dashed}">{inside}{name}</mark>')
        at = mark.end
    parts.append(_safe(text[at:]))
    name = f' aria-label="{html.escape(label)}"' if label else ""
    return f'<p class="mb-marked" dir="auto"{name}>{"".join(parts)}</p>'


def hues(types: Iterable[str]) -> dict[str, int]:
    """A colour for each type: stable across calls where possible, and distinct for up to HUES types."""
    found: dict[str, int] = {}
    for kind in sorted(set(types), key=lambda kind: (kind not in _COMMON, kind)):
        hue = _COMMON.get(kind, zlib.crc32(kind.encode()) % HUES)
        while hue in found.values() and len(found) < HUES:
            hue = (hue + 1) % HUES
        found[kind] = hue
    return found


def placed(values: Mapping) -> tuple[str, list[tuple[int, int]]]:
    """(text, (start, end) of its words) of a prediction or a recorded example. If it has words only, they are joined,
    by spaces unless all of them are single characters."""
    text, words = values.get("text"), values.get("words")
    if text is not None:
        from minibert.tasks.tagging import word_offsets

        return text, word_offsets(text)
    gap = "" if all(len(word) == 1 for word in words) else " "
    offsets, at = [], 0
    for word in words:
        offsets.append((at, at + len(word)))
        at += len(word) + len(gap)
    return gap.join(words), offsets


def between(
    text: str, truth: tuple[int, int] | None, prediction: tuple[int, int] | None, names: Sequence[str]
) -> list[Highlight]:
    """Marks for the true span only, the predicted span only, and their overlap. names: labels, in this order."""
    edges = sorted({edge for place in (truth, prediction) if place for edge in place})
    marks = []
    for start, end in pairwise(edges):
        in_truth, in_prediction = (
            place is not None and place[0] <= start and end <= place[1] for place in (truth, prediction)
        )
        if in_truth or in_prediction:
            which = 2 if in_truth and in_prediction else 0 if in_truth else 1
            marks.append(Highlight(start, end, names[which], (TRUTH, SAID, BOTH)[which], dashed=which == 1))
    return marks


def excerpt(text: str, places: Iterable[tuple[int, int]], around: int = 120) -> tuple[str, int]:
    """(excerpt around the places, its offset in the text); the start of the text if there are no places. It begins and
    ends between words if there are spaces."""
    edges = [edge for place in places for edge in place] or [0]
    first, last = min(edges), max(edges)
    start, end = max(0, first - around), min(len(text), max(last, around) + around)
    if start:
        start = next((i + 1 for i in range(start, min(start + LONGEST_WORD, first)) if text[i] == " "), start)
    if end < len(text):
        end = next((i for i in range(end, max(end - LONGEST_WORD, last), -1) if text[i] == " "), end)
    return text[start:end], start


def _safe(text: str) -> str:
    return html.escape(visible(text, spaces=False))
