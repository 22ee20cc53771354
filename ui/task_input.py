"""How the input of a task is built from an example: every row, token by token, and what is asked where."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import streamlit as st

from ui.cases import LETTERS
from ui.figures import legend
from ui.text import kind_of, literal, shorten, show_tokens
from ui.translations import _, ngettext

FOLD = 80  # tokens of a row that are drawn without asking
ROWS = 4  # rows that are drawn without asking
NEAR = 5  # tokens drawn on either side of what matters, in a folded row
GAP = 3  # fewer tokens are not worth folding
A, B = "#0072B2", "#E69F00"


def show_input(task: Any, tokenizer: Any, example: Any, labels: Any, options: Any, key: str) -> None:
    """Draw the rows that the model reads for an example of the task: tokens with ids, segments A and B, what was cut or
    filled up, and what the loss is told. labels, options: of the model, see Task.features."""
    from minibert.tasks.input_rows import ELSEWHERE, input_rows

    try:
        rows = input_rows(task, tokenizer, example, labels, options)
    except ValueError as error:  # no room beside the question, or for a word
        st.warning(literal(error), icon=":material/content_cut:")
        return
    asked = _ASKED[task.name](example, labels, options)
    if any(ELSEWHERE in row.asked for row in rows):
        asked += _(" A word marked ↔ is asked for in another window, which shows more around it.")
    st.markdown(asked)
    folds = any(len(row.ids) > FOLD for row in rows)
    whole = folds and st.toggle(_("Show every token"), key=f"{key}-whole")
    first, of_words = _shown(rows), task.name == "tagging"
    for number in first:
        _row(rows, number, whole, of_words)
    rest = [number for number in range(len(rows)) if number not in first]
    if rest:
        more = ngettext("{n} more row", "{n} more rows", len(rest)).format(n=len(rest))
        with st.expander(more, icon=":material/unfold_more:"):
            for number in rest:
                _row(rows, number, whole, of_words)
    if task.name == "multilabel" and example.labels is not None:
        target = [int(label in example.labels) for label in labels]
        kinds = ["kept" if one else "plain" for one in target]
        st.markdown(_("What the loss is told, a number a label:"))
        show_tokens(labels, under=target, kinds=kinds, label=_("Labels"))
    _beside(example, options)
    _legend(rows, options)


def _beside(example: Any, options: Any) -> None:
    """The columns that are no tokens."""
    if options.metadata_as != "embedding" or not options.metadata:
        return
    from minibert.tasks.metadata import metadata_numbers, metadata_read

    values = metadata_read(example.extra, options)
    for (name, value), number in zip(values.items(), metadata_numbers(example.extra, options), strict=True):
        unread = _("not seen in training") if example.extra.get(name) else _("not given")
        told = _("{name} = {value}").format(name=literal(name), value=literal(value or unread))
        rows = len(options.metadata_values[name]) + 1
        words = _(
            "Beside the text: **{told}**, vector number {number} of a table of {rows}, is added to what the new layer "
            "reads; number 0 is for what training has not seen."
        )
        st.markdown(words.format(told=told, number=number, rows=rows))


def _shown(rows: Sequence) -> list[int]:
    """The rows to draw at once: all, or the first ones and those that hold the answer."""
    if len(rows) <= ROWS:
        return list(range(len(rows)))
    told = [i for i, row in enumerate(rows) if row.right or any(_matters(asked) for asked in row.asked[1:])]
    return sorted({0, 1, *told[: ROWS - 2]})


def _matters(asked: str) -> bool:
    return asked in ("S", "E", "S E") or asked[:2] in ("B-", "I-")


def _row(rows: Sequence, number: int, whole: bool, of_words: bool) -> None:
    row = rows[number]
    title = _title(rows, number, of_words)
    if title:
        st.markdown(title)
    at = list(range(len(row.ids))) if whole or len(row.ids) <= FOLD else _folded(row)
    tokens, under, kinds, segments, asked = [], [], [], [], []
    for before, i in zip([-1, *at], [*at, len(row.ids)], strict=True):
        if i > before + 1:
            tokens.append(f"…{i - before - 1}…")
            under.append("")
            kinds.append("faded")
            segments.append(row.segments[before])
            asked.append("")
        if i < len(row.ids):
            tokens.append(row.tokens[i])
            under.append(row.ids[i])
            kinds.append("cut" if row.cut[i] else kind_of(row.tokens[i]))
            segments.append(row.segments[i])
            asked.append(row.asked[i])
    if row.padding:
        tokens.append(f"[PAD]×{row.padding}")
        under.append("")
        kinds.append("faded")
        segments.append(0)
        asked.append("")
    show_tokens(
        tokens,
        under=under,
        kinds=kinds,
        segments=segments,
        asked=asked if any(asked) else None,
        limit=len(tokens),
        label=_("What the model reads"),
    )


def _folded(row: Any) -> list[int]:
    """The places to draw: the beginning, the end, and about what is asked and where a cut begins or ends."""
    last = len(row.ids)
    edges = [i for i in range(1, last) if row.cut[i] != row.cut[i - 1]]
    marks = [*edges, *(i for i, asked in enumerate(row.asked) if i and _matters(asked))]
    shown = {*range(min(24, last)), last - 2, last - 1}
    for mark in marks:
        shown.update(range(max(0, mark - NEAR), min(last, mark + NEAR + 1)))
    for one, other in pairwise(sorted(shown)):
        if other - one <= GAP:
            shown.update(range(one, other))
    return sorted(shown)


def _title(rows: Sequence, number: int, of_words: bool) -> str:
    """of_words: a window is asked for words, not for an answer in a passage."""
    row = rows[number]
    if row.right is not None or (len(rows) > 1 and row.tokens_of is None):
        letter = LETTERS[number]
        sign = _(" · the right one ✓") if row.right else ""
        return "**" + _("Choice {letter}").format(letter=letter) + "**" + sign
    if len(rows) > 1:
        first, last, total = row.tokens_of
        words = (
            _("asked for words {first}–{last} of {total}")
            if of_words
            else _("passage tokens {first}–{last} of {total}")
        )
        window = _("**Window {n} of {count}**").format(n=number + 1, count=len(rows))
        return f"{window} · {words.format(first=first + 1, last=last, total=total)}"
    return ""


def _legend(rows: Sequence, options: Any) -> None:
    entries = [(A, "▁", _("segment A"))]
    if any(1 in row.segments for row in rows):
        entries.append((B, "═", _("segment B")))
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
    st.caption(" ".join(map(literal, words)))


# --- what is asked, in words -----------------------------------------------------------------------------------------


def _reader(options: Any) -> str:
    """Where the new layer reads."""
    where = {"cls": _("`[CLS]`"), "mean": _("the mean of all tokens"), "max": _("the maximum over all tokens")}
    return where[options.pooling]


def _class(example, labels, options) -> str:
    if example.label not in labels:
        return _("Asked of {where}: one class of {count}.").format(where=_reader(options), count=len(labels))
    return _("Asked of {where}: the class **{label}**, number {n} of {count}.").format(
        where=_reader(options), label=literal(example.label), n=labels.index(example.label) + 1, count=len(labels)
    )


def _number(example, labels, options) -> str:
    if example.score is None:
        return _("Asked of {where}: one number, 0 (unrelated) to 5 (the same).").format(where=_reader(options))
    return _("Asked of {where}: one number, **{score}** on a scale of 0 (unrelated) to 5 (the same).").format(
        where=_reader(options), score=f"{example.score:g}"
    )


def _several(example, labels, options) -> str:
    return _("Asked of {where}: every label by itself, yes (1) or no (0).").format(where=_reader(options))


def _tags(example, labels, options) -> str:
    return _(
        "Asked of each word: its tag, at its **first piece**. A later piece (–) is ignored by the loss: a word has one "
        "tag, and its first piece answers for it."
    )


def _span(example, labels, options) -> str:
    if example.answers is None:
        return _("Asked: where the answer starts (S) and where it ends (E), a choice among all tokens of the passage.")
    if not example.answers:
        return _("Asked: S and E. **The passage holds no answer**, so both belong to `[CLS]`.")
    if example.place is None:
        return _("The answer does not stand where the file says it does, so nothing is asked.")
    start, end = example.place
    return _(
        "Asked: the token where the answer “{answer}” starts (S) and the one where it ends (E). In a window without "
        "the answer both belong to `[CLS]`."
    ).format(answer=literal(shorten(example.context[start:end], 120)))


def _choice(example, labels, options) -> str:
    return _(
        "Every choice makes a **row of its own**, with the same context in front. Asked of {where} in each row: one "
        "score; softmax over the {n} scores."
    ).format(where=_reader(options), n=len(example.choices))


def _intent(example, labels, options) -> str:
    said = _("Asked of {where}: the intent **{intent}**. ").format(
        where=_reader(options), intent=literal(example.intent or "?")
    )
    return said + _("Asked of each word: its tag, at its **first piece**; a later piece (–) is ignored by the loss.")


_ASKED: dict[str, Callable[[Any, Any, Any], str]] = {
    "classification": _class,
    "pair": _class,
    "similarity": _number,
    "multilabel": _several,
    "tagging": _tags,
    "span": _span,
    "span-or-none": _span,
    "choice": _choice,
    "intent": _intent,
}
