"""What the whole page is about: the class's text, the model that fills its masked tokens, and the seed of the draw."""

from dataclasses import dataclass

import streamlit as st

from ui.inputs import MAX_SEED, next_seed, sentence_input
from ui.languages import language_of
from ui.lesson import Lesson
from ui.model_cache import language_read, load, version_of
from ui.model_registry import available_models
from ui.model_widgets import choose_model
from ui.page import drawer
from ui.translations import _

MAX_CHARS = 400
RATE = 35  # percent masked: enough for a span in a short text
SEED = 74  # with it, the first draw masks a span, a name and a word of several pieces


@dataclass(frozen=True)
class Inputs:
    """text: the sentence · model: name of the one that predicts · rate: percent masked · seed: of the masks."""

    text: str
    model: str
    rate: int
    seed: int

    @property
    def chinese(self) -> bool:
        return language_of(self.text) == "zh"


def read(lesson: Lesson) -> Inputs:
    """The text and the button to draw again; in a drawer the rarely changed settings."""
    with st.container(horizontal=True, key="subject", vertical_alignment="bottom", gap="medium"):
        left = st.container()
        with drawer(holds=("rate", "seed")):
            rate = st.slider(_("Tokens hidden"), 5, 50, RATE, 5, format="%d %%", key="rate", bind="query-params")
            seed = st.number_input(_("Seed"), 0, MAX_SEED, SEED, key="seed", bind="query-params", width=150)
            models_in = st.container()
        st.button(_("Draw again"), key="draw", icon=":material/casino:", type="primary", on_click=next_seed)
    examples = st.container()
    with left:
        text = sentence_input(
            "text", lesson.examples, label=_("Text, English or Chinese"), max_chars=MAX_CHARS, examples_in=examples
        )
    language = language_of(text)
    models = {info.name: info for info in available_models(fill=True, trained=True)}
    models = {name: info for name, info in models.items() if language_read(name) == language} or models
    with models_in:
        titles, folders = ({name: getattr(info, of) for name, info in models.items()} for of in ("title", "directory"))
        model = choose_model(f"model-{language}", _("The model that guesses"), titles, folders)
    return Inputs(text, model, rate, SEED if seed is None else int(seed))


@st.cache_resource(show_spinner=False, max_entries=4)
def _vocabulary(model: str, version: int, chinese: bool):
    from minibert.inside.predictions.hidden_text import vocabulary_of

    loaded = load(model)
    return vocabulary_of(loaded.model, loaded.tokenizer, chinese)


def vocabulary(model: str):
    """The facts about a model's vocabulary needed for masking, computed once per server."""
    return _vocabulary(model, version_of(model), language_read(model) == "zh")
