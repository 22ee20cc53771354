"""A stepper: previous, next, a click on any step, the arrow keys; the link stores the step."""

import time
from collections.abc import Sequence

import streamlit as st

from ui.state import follow_link, set_url, url_int
from ui.translations import _

_MOMENT = 0.04  # seconds for a message to reach the browser's screen


def stepper(key: str, labels: Sequence[str], *, keyboard: bool = True) -> int:
    """Show the steps and return the index of the current one, 0 … len(labels) − 1.

    Call it inside an `st.fragment` so that a click reruns that fragment only. `key` is also the name in the link
    (`?key=3` is the third step). The arrow keys work anywhere on the page outside text fields: give `keyboard=True`
    to one stepper a page.
    """
    if not labels:
        raise ValueError("a stepper needs at least one step")
    last = len(labels) - 1
    state = f"{key}-step"
    if follow_link(key) or state not in st.session_state:
        st.session_state[state] = url_int(key, 1, 1, len(labels)) - 1
    step = st.session_state[state] = min(st.session_state[state], last)

    # Buttons, because a segmented control captures the arrow keys once it has been clicked.
    with st.container(key=f"stepper-{key}", horizontal=True, vertical_alignment="center", gap="xsmall"):
        for side, text, by, end in (("Left", _("Previous"), -1, 0), ("Right", _("Next"), 1, last)):
            st.button(
                text,
                key=f"{key}-{side.lower()}",
                type="tertiary",
                on_click=_move,  # relative to the step at callback time: two quick presses are two steps
                args=(state, by, last),
                disabled=step == end,
                shortcut=side if keyboard else None,
            )
        for index, text in enumerate(labels):
            st.button(
                f"**{index + 1}. {text}**" if index == step else f"{index + 1}. {text}",
                key=f"{key}-{index}",
                type="primary" if index == step else "secondary",
                on_click=_go,
                args=(state, index),
            )
    set_url(key, step + 1, default=1)
    return step


def words_first() -> None:
    """Call before the pictures of a step: lets the browser show its text at once; otherwise the text would appear only
    after the last picture is drawn."""
    time.sleep(_MOMENT)


def _move(state: str, by: int, last: int) -> None:
    st.session_state[state] = max(0, min(last, st.session_state.get(state, 0) + by))


def _go(state: str, step: int) -> None:
    st.session_state[state] = step
