"""Shows how the model's input is built from an example: each row, token by token, with the targets."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import streamlit as st

from plots.grammar import SEGMENT_A, SEGMENT_B
from ui.errors import translated
from ui.figures import legend
from ui.tasks import VIEWS
from ui.tasks.base import TaskView
from ui.text import kind_of, literal, one_by_one, show_tokens
from ui.translations import _, ngettext

FOLD = 80  # longer rows are folded
ROWS = 4  # further rows are in an expander
NEAR = 5  # tokens drawn on either side of targets and cuts, in a folded row
GAP = 3  # shorter gaps are not folded


def show_input(task: Any, tokenizer: Any, example: Any, labels: Any, options: Any, key: str) -> None:
    """Draw the rows the model reads for an example: tokens with ids, segments A and B, truncated tokens, padding, and
    targets. labels, options: of the model, see Task.features."""
    from minibert.tasks.input_rows import ELSEWHERE

    view = VIEWS[task.name]
    try:
        rows = task.input_rows(tokenizer, example, labels, options)
    except ValueError as error:  # no room beside the question, or for a word
        st.warning(literal(translated(error)), icon=":material/content_cut:")
        return
    question = view.asked(example, labels, options)
    if any(ELSEWHERE in row.targets for row in rows):
        question += _(" A word marked ↔ is predicted in another window, which shows more around it.")
    st.markdown(question)
    folds = any(len(row.ids) > FOLD for row in rows)
    whole = folds and st.toggle(_("Show every token"), key=f"{key}-whole")
    first = _shown(rows)
    for number in first:
        _row(view, rows, number, whole)
    rest = [number for number in range(len(rows)) if number not in first]
    if rest:
        more = ngettext("{n} more row", "{n} more rows", len(rest)).format(n=len(rest))
        with st.expander(more, icon=":material/unfold_more:"):
            for number in rest:
                _row(view, rows, number, whole)
    view.show_target(example, labels)
    _beside(example, options)
    _legend(rows, options)


def _beside(example: Any, options: Any) -> None:
    """Describe the metadata columns that are read as vectors rather than tokens."""
    if options.metadata_as == "token" or not options.metadata:
        return
    from minibert.tasks.metadata import metadata_numbers, metadata_read

    values = metadata_read(example.extra, options)
    for (name, value), number in zip(values.items(), metadata_numbers(example.extra, options), strict=True):
        unread = _("not seen in training") if example.extra.get(name) else _("not given")
        pair = _("{name} = {value}").format(name=literal(name), value=literal(value or unread))
        rows = len(options.metadata_values[name]) + 1
        words = _(
            "Beside the text: **{told}**, vector number {number} of a table of {rows}, is added to what the new layer "
            "reads; number 0 is for what training has not seen."
        )
        st.markdown(words.format(told=pair, number=number, rows=rows))


def _shown(rows: Sequence) -> list[int]:
    """Rows to draw outside the expander: all if at most ROWS, else the first two and up to ROWS - 2 with a target."""
    if len(rows) <= ROWS:
        return list(range(len(rows)))
    with_target = [i for i, row in enumerate(rows) if row.right or any(map(_matters, row.targets[1:]))]
    return sorted({0, 1, *with_target[: ROWS - 2]})


def _matters(target: str) -> bool:
    return target in ("S", "E", "S E") or target[:2] in ("B-", "I-")


def _row(view: TaskView, rows: Sequence, number: int, whole: bool) -> None:
    row = rows[number]
    if title := view.row_title(rows, number):
        st.markdown(title)
    at = list(range(len(row.ids))) if whole or len(row.ids) <= FOLD else _folded(row)
    tokens, under, kinds, segments, targets = [], [], [], [], []
    for before, i in zip([-1, *at], [*at, len(row.ids)], strict=True):
        if i > before + 1:
            tokens.append(f"…{i - before - 1}…")
            under.append("")
            kinds.append("faded")
            segments.append(row.segments[before])
            targets.append("")
        if i < len(row.ids):
            tokens.append(row.tokens[i])
            under.append(row.ids[i])
            kinds.append("cut" if row.cut[i] else kind_of(row.tokens[i]))
            segments.append(row.segments[i])
            targets.append(row.targets[i])
    if row.padding:
        tokens.append(f"[PAD]×{row.padding}")
        under.append("")
        kinds.append("faded")
        segments.append(0)
        targets.append("")
    show_tokens(
        tokens,
        under=under,
        kinds=kinds,
        segments=segments,
        targets=targets if any(targets) else None,
        limit=len(tokens),
        label=_("What the model reads"),
    )


def _folded(row: Any) -> list[int]:
    """Positions to draw in a folded row: its beginning and end, and around targets and truncation borders."""
    last = len(row.ids)
    edges = [i for i in range(1, last) if row.cut[i] != row.cut[i - 1]]
    marks = [*edges, *(i for i, target in enumerate(row.targets) if i and _matters(target))]
    shown = {*range(min(24, last)), last - 2, last - 1}
    for mark in marks:
        shown.update(range(max(0, mark - NEAR), min(last, mark + NEAR + 1)))
    for one, other in pairwise(sorted(shown)):
        if other - one <= GAP:
            shown.update(range(one, other))
    return sorted(shown)


def _legend(rows: Sequence, options: Any) -> None:
    entries = [(SEGMENT_A, "▁", _("segment A"))]
    if any(1 in row.segments for row in rows):
        entries.append((SEGMENT_B, "═", _("segment B")))
    legend(entries)
    longest = max(row.length for row in rows)
    cut = sum(sum(row.cut) for row in rows)
    if len(rows) > 1:
        words = [_("The longest row has {n} tokens, of at most {most}; [PAD] fills up the others.")]
    else:
        words = [_("{n} of at most {most} tokens are read; in a batch, [PAD] fills the row up to the longest.")]
    words = [words[0].format(n=longest, most=options.max_length), _("Nothing attends to [PAD].")]
    words.append(
        ngettext("{n} token did not fit and is cut.", "{n} tokens did not fit and are cut.", cut).format(n=cut)
        if cut
        else _("Nothing is cut.")
    )
    st.caption(one_by_one(*map(literal, words)))
