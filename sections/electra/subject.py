"""What the whole page is about: the class's sentence, the two networks, and the seed and rates of the draw."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.checkpoint_files import changed
from minibert.folders import CHECKPOINTS
from ui.inputs import MAX_SEED, choice, next_seed, sentence_input
from ui.lesson import Lesson
from ui.model_registry import config_values, further_models
from ui.model_widgets import show_refused
from ui.page import drawer
from ui.runs import complete, own_models, run_title
from ui.text import literal
from ui.translations import _

MAX_CHARS = 400
SHIPPED = "electra-toy"
TEMPERATURES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
RATE = 25  # percent masked: enough to replace something in a short text
SEED = 1  # of the first draw


@dataclass(frozen=True)
class NetworkFolders:
    """The folders of the two networks. version: changes when the weights on disk do · further: of MINIBERT_MODELS."""

    name: str
    title: str
    discriminator: Path
    generator: Path
    further: bool = False

    @property
    def version(self) -> int:
        return max(changed(self.discriminator), changed(self.generator))


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
    """The shipped pair, those of MINIBERT_MODELS, then the pairs that this browser has trained, newest first."""
    folder = CHECKPOINTS / SHIPPED
    found = [NetworkFolders(SHIPPED, _("shipped, of the toy world"), folder / "pair", folder / "pair" / "generator")]
    found += [
        NetworkFolders(folder.name, folder.name, folder, generator, further=True)
        for folder, generator in further_networks().items()
        if generator
    ]
    for run in own_models():
        if _is_discriminator(run.result) and complete(run.result / "generator"):
            found.append(NetworkFolders(run.id, run_title(run), run.result, run.result / "generator"))
    return found


def further_networks() -> dict[Path, Path | None]:
    """Each discriminator in MINIBERT_MODELS → its generator: that of its name (electra-small-discriminator,
    electra-small-generator), else any with as many tokens; None if there is none."""
    folders = [info.directory for info in further_models()]
    generators = [one for one in folders if config_values(one).get("architectures") == ["ElectraForMaskedLM"]]
    found = {}
    for folder in filter(_is_discriminator, folders):
        size = config_values(folder).get("vocab_size")
        fitting = [one for one in generators if config_values(one).get("vocab_size") == size]
        name = folder.name.replace("discriminator", "generator")
        found[folder] = min(fitting, key=lambda one: one.name != name, default=None)
    return found


def _is_discriminator(folder: Path) -> bool:
    return config_values(folder).get("architectures") == ["ElectraForPreTraining"]


def read(lesson: Lesson) -> Inputs:
    """The sentence and the button to draw again; in a drawer the rarely changed settings."""
    offered = pairs()
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left = st.container()
        temperature = st.select_slider(
            _("Temperature"),
            TEMPERATURES,
            value=1.0,
            format_func=lambda t: f"{t:g}",
            key="temperature",
            bind="query-params",
            width=200,
            help=_("0: always the likeliest word; high: nearly any word."),
        )
        st.button(_("Draw again"), key="draw", icon=":material/casino:", type="primary", on_click=next_seed)
        with drawer(holds=("rate", "seed")):
            examples = st.container()
            names = {pair.name: pair.title for pair in offered}
            chosen = choice("pair", _("The two networks"), names, box=320)
            show_lonely()
            rate = st.slider(_("Tokens hidden"), 5, 50, RATE, 5, format="%d %%", key="rate", bind="query-params")
            seed = st.number_input(_("Seed"), 0, MAX_SEED, SEED, key="seed", bind="query-params", width=150)
    pair = next(pair for pair in offered if pair.name == chosen)
    with left:
        text = sentence_input(
            "text",
            lesson.examples_called("real") if pair.further else lesson.examples,
            label=_("Your text") if pair.further else _("Text in words of the toy world"),
            max_chars=MAX_CHARS,
            examples_in=examples,
        )
    seed = SEED if seed is None else int(seed)
    return Inputs(text, pair, temperature, rate, seed)


def show_lonely() -> None:
    """Which checkpoints of MINIBERT_MODELS are not offered, and why."""
    for folder, generator in further_networks().items():
        if generator is None:
            words = _(
                "**{folder}** is not offered: no generator with its vocabulary (ElectraForMaskedLM) lies beside it."
            )
            st.caption(words.format(folder=literal(folder.name)))
    show_refused()


@st.cache_resource(show_spinner=False, max_entries=6)
def _networks(discriminator: Path, generator: Path, version: int):
    from minibert import checkpoint

    return checkpoint.load(discriminator), checkpoint.load(generator), checkpoint.load_tokenizer(discriminator)


def networks(pair: NetworkFolders):
    """(discriminator, generator, tokenizer), loaded once per server, never changed."""
    return _networks(pair.discriminator, pair.generator, pair.version)
