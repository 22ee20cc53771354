"""A part of a page that runs again on its own, and never a fragment within a fragment.

When a fragment runs again before the messages of its last run were sent, Streamlit 1.67 drops those, but not the
messages of a fragment nested in it. They then name places that the browser has never heard of ("Bad delta path index"),
and the page goes blank. A figure's words in the live view of a training run do just that on a slow machine.
"""

from collections.abc import Callable
from functools import wraps

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState


def fragment(part: Callable) -> Callable:
    """`st.fragment`; called within another fragment, `part` is simply part of that."""
    alone = st.fragment(part)

    @wraps(part)
    def run(*arguments, **options):
        within = ThreadState.get().fragment_id is not None
        return (part if within else alone)(*arguments, **options)

    return run
