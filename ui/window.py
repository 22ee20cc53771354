"""The window of a long text that a picture has room for: the model reads the whole text, the window follows a word."""

from collections.abc import Sequence

import streamlit as st

from ui.state import notes
from ui.translations import _


def around(n: int, most: int, wanted: int, start: int | None = None) -> range:
    """At most `most` of n places. `wanted` is in their middle, or stays inside those from `start` on, if there is
    another place on each side of it, so that a picture does not move at every click."""
    last = max(0, n - most)
    if start is None or not (start < wanted < start + most - 1 or wanted in (0, n - 1)):
        start = wanted - most // 2
    start = max(0, min(last, start))
    if not start <= wanted < start + most:
        start = max(0, min(last, wanted - most // 2))
    return range(start, min(n, start + most))


def following(key: str, about: str, n: int, most: int, wanted: int) -> range:
    """`around`, from where the window stood. key: of the picture · about: the text; of another one it begins anew."""
    before, start = notes("window").get(key, (None, None))
    window = around(n, most, wanted, start if before == about else None)
    notes("window")[key] = (about, window.start)
    return window


def with_first(window: Sequence[int]) -> tuple[int, ...]:
    """The window with [CLS] in front, in place of its first token: many heads look there."""
    return (0, *window[1:]) if window and window[0] else tuple(window)


def say_drawn(n: int, shown: int, *, follows: bool = True) -> None:
    """That the whole text is read, and how to see the rest of it; nothing where all is drawn. follows: whether the
    window follows a word that the reader chooses."""
    if shown < n:
        if follows:
            words = _("The model reads all {n} tokens; {shown} are drawn. Choose a word at the edge, and they move on.")
        else:
            words = _("The model reads all {n} tokens; {shown} are drawn.")
        st.caption(words.format(n=n, shown=shown))
