"""What the whole page is about: the class's sentence, the token that is followed, and the two models that read it."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.text.json_values import json_object, json_value
from ui.folders import CHECKPOINTS
from ui.inputs import choice, numbered, pick, sentence_input
from ui.lesson import Lesson
from ui.page import drawer
from ui.runs import own_models, run_title
from ui.text import visible
from ui.translations import _

MAX_CHARS = 400
MOST = 48  # tokens
SHIPPED = "albert-toy"


@dataclass(frozen=True)
class Pair:
    """Where an ALBERT and a BERT lie that have read the same stories."""

    name: str
    title: str
    albert: Path
    bert: Path

    @property
    def version(self) -> int:
        """Changes when the weights on disk do."""
        return max((folder / "model.safetensors").stat().st_mtime_ns for folder in (self.albert, self.bert))


@dataclass(frozen=True)
class Subject:
    """text: the sentence · token: its place among all that are read, None for the mean of all · pair: the models."""

    text: str
    token: int | None
    pair: Pair


def pairs() -> list[Pair]:
    """The pair that ships, then those that this browser has trained together, the newest first."""
    folder = CHECKPOINTS / SHIPPED
    found = [Pair(SHIPPED, _("shipped, of the toy world"), folder / "albert", folder / "bert")]
    runs = {run.kind: run for run in own_models() if run.kind.startswith("albert/")}
    for kind, run in runs.items():
        beside = runs.get(kind.replace("/albert-", "/bert-"))
        if beside is not None and json_object(run.result / "config.json").get("model_type") == "albert":
            found.append(Pair(run.id, run_title(run), run.result, beside.result))
    return found


def read(lesson: Lesson) -> Subject:
    """The sentence, beside it the token that is followed; in a drawer which models read it."""
    offered = pairs()
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="medium"):
        left, middle = st.container(), st.container(width=230)
        with drawer():
            examples = st.container()
            chosen = choice("pair", _("The two models"), {pair.name: pair.title for pair in offered}, box=320)
    pair = next(pair for pair in offered if pair.name == chosen)
    with left:
        text = sentence_input(
            "text", lesson.examples, label=_("Text in words of the toy world"), max_chars=MAX_CHARS,
            examples_in=examples,
        )  # fmt: skip
    tokenizer = models(pair)[2]
    tokens = tokenizer.encode(text, max_length=MOST, truncation="head").tokens
    with middle:
        words = [_("all, their mean"), *numbered([visible(token) for token in tokens])]
        token = pick("token", _("Follow a token"), words, width=230)
    return Subject(text, token - 1 if token else None, pair)


def steps_of(folder: Path) -> int:
    """How long the model in a folder was trained, by the log beside it; 0 where there is none."""
    log = folder / "training.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    return max((json_value(line).get("step", 0) for line in lines), default=0)


@st.cache_resource(show_spinner=False, max_entries=6)
def _models(albert: Path, bert: Path, version: int):
    from minibert import checkpoint

    return checkpoint.load(albert), checkpoint.load(bert), checkpoint.load_tokenizer(albert)


def models(pair: Pair):
    """(ALBERT, BERT, tokenizer), loaded once per server, never changed."""
    return _models(pair.albert, pair.bert, pair.version)
