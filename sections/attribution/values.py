"""The value of each word by every method, and what of a first view is read from a file."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from sections.attribution.subject import Inputs
from ui.first_views import first_view
from ui.translations import _


def values_of(inputs: Inputs) -> dict:
    """Method → the value of each word, computed once for all sessions."""
    with st.spinner(_("Asking five ways …")):
        return _values_of(inputs.key, inputs, inputs.replacement, inputs.steps)


@st.cache_data(show_spinner=False, max_entries=128)
def _values_of(key: tuple, _inputs: Inputs, replacement: str, steps: int) -> dict:
    from minibert.inside.explanations.attribution import attributions

    explain = partial(attributions, _inputs.case, replacement, steps=steps)
    return first_of(_inputs, "values", [replacement, steps], explain)


def first_of(inputs: Inputs, name: str, settings: list, make: Callable[[], dict]) -> dict:
    """`first_view` of what is explained, under these settings; a classifier of the user is always asked."""
    if inputs.run is not None:
        return make()
    _model, texts, label = inputs.key
    return first_view("attribution", name, inputs.model, [texts, label, *settings], make)
