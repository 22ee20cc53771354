"""Form in which the user enters an input of their own, for every task."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.inputs import pick, state
from ui.tasks import VIEWS
from ui.text import literal
from ui.translations import _

WIDE = 240  # pixels of a select box


def answer_form(
    task: Any, example: Any, key: str, columns: Mapping[str, Sequence[str] | None] | None = None
) -> dict[str, Any] | str | None:
    """Fields for an input of the task, pre-filled from `example` and refilled when `example` changes. columns: metadata
    columns the model reads beside the text, each with its possible values; None for columns of free text.

    Returns the argument of `Predictor.predict`; None, with a hint, while it is incomplete. Short texts are in the link.
    """
    columns = columns or {}
    before = st.session_state.get(f"_{key}-example")
    if before is not None and before != example:
        fields = {field for one in VIEWS.values() for field in one.fields}  # another task may have come
        for name in (f"{key}-{field}" for field in (*fields, *map(_column, columns))):
            for kept in (name, state(name)):
                st.session_state.pop(kept, None)
            st.query_params.pop(name, None)
    st.session_state[f"_{key}-example"] = example
    given = VIEWS[task.name].form(example, key)
    beside = _values_beside(example, key, columns)
    if given is None or not beside:
        return given
    return {**(given if isinstance(given, dict) else {"text": given}), **beside}


def _column(name: str) -> str:
    return f"column-{name}"


def _values_beside(example: Any, key: str, columns: Mapping[str, Sequence[str] | None]) -> dict[str, str]:
    """Column → value chosen or typed; columns set to "not given" are left out."""
    if not columns:
        return {}
    chosen = {}
    with st.container(horizontal=True):
        for name, values in columns.items():
            value = example.extra.get(name)
            if values is None:
                field = f"{key}-{_column(name)}"
                st.session_state.setdefault(field, value or "")
                chosen[name] = st.text_input(literal(name), key=field, width=WIDE, max_chars=2_000)
                continue
            options = [*values, _("not given")]
            start = values.index(value) if value in values else len(values)
            place = pick(f"{key}-{_column(name)}", literal(name), options, start, width=WIDE)
            if place < len(values):
                chosen[name] = values[place]
    return chosen
