"""What UniLM's part is about: the first text, perhaps a given second one, and the writer and its decoding."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from ui.inputs import MAX_SEED, choice, sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.runs import own_models, run_title
from ui.translations import _

MAX_CHARS = 300
SHIPPED = CHECKPOINTS / "unilm-toy"
MOST_READ, MOST_GIVEN = 30, 12  # tokens of the two texts
BORDER = "[SEP]"  # what the user types between them
ANSWERS = "to_write-answers"  # kind of the runs that learn to answer
TEMPERATURES = (0.25, 0.5, 1.0, 1.5, 2.0)


@dataclass(frozen=True)
class Writer:
    """A UniLM that writes. ends: the token that ends a text, "[SEP]" if trained to answer, "." if trained to continue
    stories · version: changes when the weights on disk do."""

    name: str
    title: str
    folder: Path
    ends: str = "[SEP]"

    @property
    def version(self) -> int:
        return (self.folder / "model.safetensors").stat().st_mtime_ns


@dataclass(frozen=True)
class Way:
    """The decoding: "greedy", "beam" with a width, or "sample" with a temperature and a seed."""

    name: str
    width: int = 3
    temperature: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Inputs:
    """read, given: the two texts; given is None if the model writes the second one."""

    read: str
    given: str | None
    writer: Writer
    way: Way


def writers() -> list[Writer]:
    results = [
        Writer("answers", _("shipped, answers questions"), SHIPPED / "answers"),
        Writer("story", _("shipped, goes on with a story"), SHIPPED / "unilm", "."),
    ]
    for run in own_models():
        if json_object(run.result / "config.json").get("model_type") == "unilm":
            ends = "[SEP]" if run.kind.startswith(ANSWERS) else "."
            results.append(Writer(run.id, run_title(run), run.result, ends))
    return results


def ways() -> dict[str, str]:
    return {"greedy": _("always the likeliest"), "beam": _("beam search"), "sample": _("by lot")}


def read(lesson: Lesson) -> Inputs:
    """The text, and in a drawer the writer and its decoding."""
    offered = writers()
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left = st.container()
        with drawer(holds=("width", "temperature", "dice")):
            names = {writer.name: writer.title for writer in offered}
            chosen = choice("writer", _("Who writes"), names, box=320)
            name = choice("way", _("A token is chosen"), ways(), wrap=True)
            width = st.slider(_("Beginnings kept (beam)"), 1, 8, 3, key="width", bind="query-params")
            look = {"format_func": "{:g}".format, "key": "temperature", "bind": "query-params"}
            temperature = st.select_slider(_("Temperature (by lot)"), TEMPERATURES, value=1.0, **look)
            seed = st.number_input(_("Seed (by lot)"), 0, MAX_SEED, 0, key="dice", bind="query-params", width=150)
            examples = st.container()
    with left:
        text = sentence_input(
            "text",
            lesson.examples,
            max_chars=MAX_CHARS,
            examples_in=examples,
            label=_("Text in words of the toy world"),
            help=_("Little facts and a question. Behind {border} you may say yourself what is written.").format(
                border=BORDER
            ),
        )
    source, border, given = text.partition(BORDER)
    writer = next(writer for writer in offered if writer.name == chosen)
    way = Way(name, int(width), float(temperature), int(seed or 0))
    return Inputs(source.strip(), given.strip() if border and given.strip() else None, writer, way)


@st.cache_resource(show_spinner=False, max_entries=8)
def _network(folder: Path, version: int):
    from minibert import checkpoint

    return checkpoint.load(folder), checkpoint.load_tokenizer(folder)


def network(folder: Path):
    """(model, tokenizer), loaded once per server, never changed."""
    return _network(folder, (folder / "model.safetensors").stat().st_mtime_ns)


def words_of(text: str, most: int) -> Sequence[str]:
    """The tokens as shown to the user: in the toy world's vocabulary each word is one."""
    from minibert.tokenizer import basic_tokens

    return basic_tokens(text, uncased=True)[:most]
