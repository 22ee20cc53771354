"""What a relative changes in BERT, as a diff of the source: lines of BERT removed, lines of the relative added."""

import difflib
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ui.source import coloured, source_of
from ui.translations import _


@dataclass(frozen=True)
class CodeChange:
    """title: what changes · before: BERT's code for it, None if BERT has none · after: the relative's code."""

    title: str
    before: Any
    after: Any


@dataclass(frozen=True)
class DiffLine:
    """A line of a diff. sign: " ", "-" or "+" · number: its line number in its file · code: coloured, safe HTML."""

    sign: str
    number: int
    code: str


def show_diff(changes: Sequence[CodeChange]) -> None:
    """Each change in an expander, the first one open."""
    for index, change in enumerate(changes):
        places = [source_of(part) for part in (change.before, change.after) if part is not None]
        where = " → ".join(f"{path}:{start}" for _lines, start, path in places)
        added, gone = (sum(line.sign == sign for line in lines_of(change)) for sign in "+-")
        title = _("{what}: +{added} −{gone} lines, `{where}`").format(
            what=change.title, added=added, gone=gone, where=where
        )
        with st.expander(title, expanded=index == 0, icon=":material/difference:"):
            st.html(diff_html(list(lines_of(change)), label=change.title))


def lines_of(change: CodeChange) -> Iterator[DiffLine]:
    """The lines of both versions in the order of a unified diff, with all unchanged lines."""
    sides = []
    for part in (change.before, change.after):
        lines, start, _path = source_of(part) if part is not None else ([], 1, "")
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        sides.append(([line[indent:] for line in lines], start))
    (before, first), (after, second) = sides
    theirs, ours = coloured(before), coloured(after)
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (DiffLine(" ", second + i, ours[i]) for i in range(c, d))
            continue
        yield from (DiffLine("-", first + i, theirs[i]) for i in range(a, b))
        yield from (DiffLine("+", second + i, ours[i]) for i in range(c, d))


def diff_html(lines: Sequence[DiffLine], *, label: str = "") -> str:
    """The diff as safe HTML; each line has a sign as well as a colour."""
    css = {"-": "mb-gone", "+": "mb-come", " ": ""}
    labels = {"-": _("BERT’s"), "+": _("new"), " ": ""}
    rows = "".join(
        f'<tr class="{css[line.sign]}"><td class="mb-line" aria-hidden="true">{line.number}</td>'
        f'<td class="mb-sign" aria-label="{html.escape(labels[line.sign])}">{line.sign.replace("-", "−")}</td>'
        f"<td>{line.code or ' '}</td></tr>"
        for line in lines
    )
    name = html.escape(label)
    return (
        f'<div class="mb-source mb-diff" role="region" tabindex="0" aria-label="{name}"><table><tbody>{rows}</tbody>'
        "</table></div>"
    )
