"""The widgets that choose a model, and the warning about one without training."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType

import streamlit as st

from ui.errors import translated
from ui.inputs import distinct, typed
from ui.languages import language_of
from ui.model_cache import language_read
from ui.model_registry import UNTRAINED, about, available_models, refused_models
from ui.state import follow_link, hold, notes, opened_by_link, set_url, url_choice, went_back
from ui.text import literal
from ui.translations import DEFAULT, _, first_language

WELL_READ = "minilm-en"  # default on pages about knowledge; elsewhere the first model listed, small and fast
_OFFERED = "_offered"  # session_state key: key of a select box → name of a trained model → (title, model it reads as)


def model_choice(
    key: str = "model", *, label: str | None = None, default: str | None = None, drawn: bool = True, **kinds: bool
) -> str:
    """A select box over `available_models(**kinds)`, stored in the link as `key`; returns the name of the chosen one.

    default: if not available, the first · drawn: false on a part that asks no model; the choice is kept."""
    models = available_models(**kinds)
    directories = {info.name: info.directory for info in models if info.directory}
    titles = {info.name: info.title for info in models}
    further = _("More models: checkpoints in the Hugging Face layout, in the folder that MINIBERT_MODELS names.")
    chosen = choose_model(key, label or _("Model"), titles, directories, default, help=further, drawn=drawn)
    if drawn:
        show_refused()
    return chosen


def show_refused() -> None:
    """Which folders of MINIBERT_MODELS hold no model that can be opened, and why."""
    for name, why in refused_models().items():
        words = _("**{folder}** is not offered. {reason}")
        st.caption(words.format(folder=literal(name), reason=literal(translated(why))))


def choose_model(
    key: str,
    label: str,
    titles: Mapping[str, str],
    directories: Mapping[str, Path],
    default: str | None = None,
    *,
    read_as: Mapping[str, str] = MappingProxyType({}),
    help: str | None = None,
    drawn: bool = True,
) -> str:
    """A select box over models, stored in the link as `key`, with a caption if the model is a relative of BERT → the
    name of the chosen one. titles: name → title, at least one · directories: name → folder · default, drawn: as in
    `model_choice`; a sentence that comes from another page, and the page's language, may start another model, which the
    link then says · read_as: of further names, the model with the same vocabulary, for `offer_reader`."""
    names, state, started = distinct(dict(titles)), st.session_state, notes("started")
    start = default = default if default in names else next(iter(names))
    language = language_of(typed()) if typed() else first_language()
    if language != DEFAULT and not (opened_by_link() or went_back()):
        start = next((name for name in directories if language_read(name) == language), default)
    # Not bind="query-params": that would put the title into the link, and a title is translated.
    if follow_link(key) or state.get(key) not in names:
        state[key] = url_choice(key, list(names), start)
    elif started.get(key, (first_language(),))[0] != first_language() and started[key][1] == state[key]:
        state[key] = start  # nobody has chosen: it follows the language
    started[key] = first_language(), start
    hold(key)
    if not drawn:
        return state[key]
    directory = directories.get(st.session_state[key])
    words = about(directory) if directory else ""
    with st.container(gap="xxsmall") if words else nullcontext():
        chosen = st.selectbox(label, list(names), format_func=names.get, key=key, help=help)
        if words:
            st.caption(words)
    set_url(key, chosen, default=default)
    offered = {**{name: name for name in directories}, **read_as}
    st.session_state.setdefault(_OFFERED, {})[key] = {name: (names[name], model) for name, model in offered.items()}
    return chosen


def offer_reader(model: str, text: str, name: str = "") -> None:
    """A button that chooses a model of the text's language in the select box where `model` is chosen, if it has one.
    name: of the model in that box, if another."""
    language = language_of(text)
    offered = st.session_state.get(_OFFERED, {})
    key = next((key for key in offered if st.session_state.get(key) == (name or model)), None)
    if key is None or not text or language_read(model) == language:
        return
    readers = [one for one, (_title, read_as) in offered[key].items() if language_read(read_as) == language]
    if readers:
        reader = WELL_READ if WELL_READ in readers else readers[0]
        label = _("Read it with {model}").format(model=literal(offered[key][reader][0]))
        if st.button(label, key=f"{key}-reader", icon=":material/translate:", on_click=_choose, args=(key, reader)):
            st.rerun()  # of the whole page: the text may stand in a fragment, the select box does not


def _choose(key: str, name: str) -> None:
    st.session_state[key] = name


def warn_untrained(name: str) -> None:
    if name == UNTRAINED:
        st.warning(
            _("This model has random weights: what it says is noise. Choose a trained one."), icon=":material/casino:"
        )
