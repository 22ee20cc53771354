"""The widgets that choose a model, and the warning about one without training."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import streamlit as st

from ui.inputs import distinct, typed
from ui.languages import language_of
from ui.model_cache import language_read
from ui.model_registry import UNTRAINED, about, available_models
from ui.state import follow_link, say_choice, url_choice, usual_in_link
from ui.translations import _

WELL_READ = "minilm-en"  # default on pages about knowledge; elsewhere the first model listed, small and fast


def model_choice(key: str = "model", *, label: str | None = None, usual: str | None = None, **kinds: bool) -> str:
    """A select box over `available_models(**kinds)`, stored in the link as `key`; returns the name of the chosen one.

    usual: initial model, if available; by default the first."""
    models = available_models(**kinds)
    directories = {info.name: info.directory for info in models if info.directory}
    return choose_model(key, label or _("Model"), {info.name: info.title for info in models}, directories, usual)


def choose_model(
    key: str, label: str, titles: Mapping[str, str], directories: Mapping[str, Path], usual: str | None = None
) -> str:
    """A select box over models, stored in the link as `key`, with a caption if the model is a relative of BERT → the
    name of the chosen one. titles: name → title, at least one · directories: name → folder · usual: initial model."""
    names = distinct(dict(titles))
    first = next(iter(names))
    usual = usual if usual in names else first
    if language_of(typed()) != "en":  # a sentence carried over from another page
        usual = next((name for name in directories if language_read(name) == language_of(typed())), usual)
    # Not bind="query-params": that would put the title into the link, and a title is translated.
    if follow_link(key) or st.session_state.get(key) not in names:
        st.session_state[key] = url_choice(key, list(names), usual_in_link(first, usual))
    directory = directories.get(st.session_state[key])
    words = about(directory) if directory else ""
    with st.container(gap="xxsmall") if words else nullcontext():
        chosen = st.selectbox(label, list(names), format_func=names.get, key=key)
        if words:
            st.caption(words)
    say_choice(key, chosen, first, usual)
    return chosen


def warn_untrained(name: str) -> None:
    if name == UNTRAINED:
        st.warning(
            _("This model has random weights: what it says is noise. Choose a trained one."), icon=":material/casino:"
        )
