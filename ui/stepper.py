"""Step through something: previous, next, a click on any step, the arrow keys; the step is in the link."""

from collections.abc import Sequence

import streamlit as st

from ui.state import link_changed, note_link, set_url, url_int
from ui.translations import _


def stepper(key: str, labels: Sequence[str], *, keyboard: bool = True, label: str | None = None) -> int:
    """Show the steps and return the index of the current one, 0 … len(labels) − 1.

    Call it inside an `st.fragment` so that a click reruns that fragment only. `key` is also the name in the link
    (`?key=3` is the third step). The arrow keys work anywhere on the page outside text fields: give `keyboard=True`
    to one stepper a page.
    """
    if not labels:
        raise ValueError("a stepper needs at least one step")
    last = len(labels) - 1
    control = f"{key}-steps"
    if link_changed(key) or control not in st.session_state:
        st.session_state[control] = url_int(key, 1, 1, len(labels)) - 1
    step = st.session_state[control] = min(st.session_state[control], last)

    with st.container(key=f"stepper-{key}", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            _("Previous"),
            key=f"{key}-previous",
            icon=":material/arrow_back:",
            on_click=_go,
            args=(control, -1, last),
            disabled=step == 0,
            shortcut="Left" if keyboard else None,
        )
        st.segmented_control(
            label or _("Step"),
            range(len(labels)),
            format_func=lambda index: f"{index + 1}. {labels[index]}",
            key=control,
            required=True,
            label_visibility="collapsed",
        )
        st.button(
            _("Next"),
            key=f"{key}-next",
            type="primary",
            icon=":material/arrow_forward:",
            icon_position="right",
            on_click=_go,
            args=(control, 1, last),
            disabled=step == last,
            shortcut="Right" if keyboard else None,
        )
    set_url(key, step + 1, default=1)
    note_link(key)
    return step


def _go(control: str, by: int, last: int) -> None:
    st.session_state[control] = max(0, min(last, st.session_state.get(control, 0) + by))
