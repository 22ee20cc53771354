"""`st.fragment` without nesting.

When a fragment reruns before the messages of its previous run were sent, Streamlit 1.67 drops those, but not the
messages of a fragment nested in it. These then refer to elements the browser does not have ("Bad delta path index"),
and the page goes blank. On a slow machine `ui.figures.in_words` in the live view of a training run causes this.
"""

from collections.abc import Callable
from functools import wraps

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState


def fragment(part: Callable) -> Callable:
    """`st.fragment`, but called within another fragment, `part` runs as an ordinary function of that fragment."""
    alone = st.fragment(part)

    @wraps(part)
    def run(*arguments, **options):
        within = ThreadState.get().fragment_id is not None
        return (part if within else alone)(*arguments, **options)

    return run
