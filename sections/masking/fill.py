"""Click-to-hide: the sentence as words; a click masks one, and the model's predictions appear below."""

import time

import streamlit as st

from sections.masking.bars import around, panel, show_bars, show_legend
from sections.masking.subject import Inputs, drawn, encode_whole, expected, last_word
from ui.lesson import Lesson
from ui.limits import warn_unread
from ui.model_widgets import warn_untrained
from ui.page import picture
from ui.state import follow_link, set_url
from ui.text import literal, visible
from ui.translations import _

PANELS = 6  # most blanks with bars
DOUBLE_CLICK = 0.5  # seconds between its clicks, at most


def show(lesson: Lesson, inputs: Inputs) -> None:
    with picture():
        _chips_and_bars(inputs)
    lesson.show("Fill the blanks", title=False)


@st.fragment
def _chips_and_bars(inputs: Inputs) -> None:
    loaded = inputs.loaded
    warn_untrained(inputs.model)
    encoding = encode_whole(inputs, inputs.text)
    if encoding is None:
        return
    warn_unread(encoding, inputs.model, inputs.text)
    mask_id = loaded.tokenizer.mask_id
    typed = {i for i, number in enumerate(encoding.ids) if number == mask_id}
    hidden = _hidden_by_clicks(inputs.text, encoding, typed)
    shown = drawn(len(encoding), "chips-from", min(hidden | typed, default=1))
    with st.container(key="chips", horizontal=True):
        for i in shown:
            token = encoding.tokens[i]
            gone = i in hidden or i in typed
            st.button(
                "[MASK]" if gone else literal(visible(token)),
                key=f"chip-{i}",
                type="primary" if gone else "secondary",
                on_click=_toggle,
                args=(i,),
                help=_("It stands in the text as [MASK]: there is no word to bring back.") if i in typed else None,
            )
    positions = sorted(hidden | typed)
    if not positions:
        st.info(_("Click a word to hide it."), icon=":material/touch_app:")
        return
    if len(positions) > PANELS:
        st.caption(_("The bars of the first {shown} of {n} blanks are drawn.").format(n=len(positions), shown=PANELS))
    ids = [mask_id if i in hidden else number for i, number in enumerate(encoding.ids)]
    rows = expected(inputs.model, ids, positions[:PANELS])
    tokens = [loaded.tokenizer.vocab[number] for number in ids]
    truths = [None if i in typed else encoding.ids[i] for i in positions[:PANELS]]
    panels = []
    for i, row, true in zip(positions, rows, truths, strict=False):
        title, marked = around(tokens, i) if len(truths) > 1 else "", {} if true is None else {true: "true"}
        panels.append(panel(loaded.tokenizer, row, inputs.bars, title, marked))
    show_bars(panels, "blank-bars", _finding(loaded.tokenizer, rows, truths))
    if any(one.roles for one in panels):
        show_legend("true")


def _finding(tokenizer, rows, truths: list[int | None]) -> str:
    from minibert.inside.predictions.cloze import rank
    from plots.masking import percent

    known = [(row, true) for row, true in zip(rows, truths, strict=True) if true is not None]
    if len(truths) == 1:
        row = rows[0]
        best = int(row.argmax())
        finding = _("“{word}” first, {share}").format(
            word=visible(tokenizer.vocab[best]), share=percent(float(row[best].exp()))
        )
        if not known:
            return finding
        if best == known[0][1]:
            return finding + _(": what stood here")
        return finding + _("; “{word}” is number {rank:,}").format(
            word=visible(tokenizer.vocab[known[0][1]]), rank=rank(row, known[0][1])
        )
    right = sum(rank(row, true) == 1 for row, true in known)
    if not known:
        return _("{n} blanks, each guessed on its own").format(n=len(truths))
    return _("{right} of {n} blanks: what stood there comes first").format(right=right, n=len(known))


def _hidden_by_clicks(text: str, encoding, typed: set[int]) -> set[int]:
    """The positions masked by clicks: from the link, else as before; in a new text the last word, unless the text has
    its own blanks. Updates the link."""
    state = st.session_state
    candidates = {i for i, special in enumerate(encoding.special) if not special}
    start = set() if typed or not candidates else {last_word(encoding)}
    if follow_link("blanks"):
        parts = st.query_params.get("blanks", _dotted(start)).split(".")
        state["hidden"] = (text, {int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 4})
    elif state.get("hidden", (None,))[0] != text:
        state["hidden"] = (text, start)
    hidden = state["hidden"][1] & candidates
    set_url("blanks", _dotted(hidden), default=_dotted(start))
    return hidden


def _dotted(positions: set[int]) -> str:
    return ".".join(map(str, sorted(positions))) or "0"


def _toggle(position: int) -> None:
    """Mask a token, or restore it. Ignores the second click of a double click."""
    state = st.session_state
    last, then = state.get("_clicked", (None, 0.0))
    now = time.monotonic()
    state["_clicked"] = (position, now)
    if last == position and now - then < DOUBLE_CLICK:
        return
    text, hidden = state["hidden"]
    state["hidden"] = (text, hidden ^ {position})
