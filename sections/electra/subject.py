"""What the whole page is about: the class's sentence, the two networks, and the seed and rates of the draw."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from ui.inputs import MAX_SEED, choice, next_seed, sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.runs import complete, own_models, run_title
from ui.translations import _

MAX_CHARS = 400
SHIPPED = "electra-toy"
TEMPERATURES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
RATE = 25  # percent masked: enough to replace something in a short text
SEED = 1  # of the first draw


@dataclass(frozen=True)
class NetworkFolders:
    """The folders of the two networks. version: changes when the weights on disk do."""

    name: str
    title: str
    discriminator: Path
    generator: Path

    @property
    def version(self) -> int:
        return max((folder / "model.safetensors").stat().st_mtime_ns for folder in (self.discriminator, self.generator))


@dataclass(frozen=True)
class Inputs:
    """text: the sentence · pair: the two networks · temperature: of the samples · rate: percent masked · seed: of the
    masked positions and the samples."""

    text: str
    pair: NetworkFolders
    temperature: float
    rate: int
    seed: int


def pairs() -> list[NetworkFolders]:
    """The shipped pair, then the pairs that this browser has trained, newest first."""
    folder = CHECKPOINTS / SHIPPED
    found = [NetworkFolders(SHIPPED, _("shipped, of the toy world"), folder / "pair", folder / "pair" / "generator")]
    for run in own_models():
        if _is_discriminator(run.result) and complete(run.result / "generator"):
            found.append(NetworkFolders(run.id, run_title(run), run.result, run.result / "generator"))
    return found


def _is_discriminator(folder: Path) -> bool:
    values = json_object(folder / "config.json")
    return values.get("architectures") == ["ElectraForPreTraining"]


def read(lesson: Lesson) -> Inputs:
    """The sentence and the button to draw again; in a drawer the rarely changed settings."""
    offered = pairs()
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left = st.container()
        temperature = st.select_slider(
            _("Temperature of the samples"),
            TEMPERATURES,
            value=1.0,
            format_func=lambda t: f"{t:g}",
            key="temperature",
            bind="query-params",
            width=230,
            help=_("0: always the likeliest word; high: nearly any word."),
        )
        with drawer(holds=("rate", "seed")):
            names = {pair.name: pair.title for pair in offered}
            chosen = choice("pair", _("The two networks"), names, box=320)
            rate = st.slider(_("Tokens hidden"), 5, 50, RATE, 5, format="%d %%", key="rate", bind="query-params")
            seed = st.number_input(_("Seed"), 0, MAX_SEED, SEED, key="seed", bind="query-params", width=150)
    with st.container(horizontal=True, key="again", vertical_alignment="bottom", gap="medium"):
        examples = st.container()
        st.button(_("Draw again"), key="draw", icon=":material/casino:", type="primary", on_click=next_seed)
    with left:
        text = sentence_input(
            "text",
            lesson.examples,
            label=_("Text in words of the toy world"),
            max_chars=MAX_CHARS,
            examples_in=examples,
        )
    seed = SEED if seed is None else int(seed)
    return Inputs(text, next(pair for pair in offered if pair.name == chosen), temperature, rate, seed)


@st.cache_resource(show_spinner=False, max_entries=6)
def _networks(discriminator: Path, generator: Path, version: int):
    from minibert import checkpoint

    return checkpoint.load(discriminator), checkpoint.load(generator), checkpoint.load_tokenizer(discriminator)


def networks(pair: NetworkFolders):
    """(discriminator, generator, tokenizer), loaded once per server, never changed."""
    return _networks(pair.discriminator, pair.generator, pair.version)
