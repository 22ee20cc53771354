"""Pairs of a relative and a BERT trained on the same texts: listing, choosing and loading them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from ui.inputs import choice
from ui.runs import own_models, run_title
from ui.text import literal
from ui.translations import _


@dataclass(frozen=True)
class ModelPair:
    """Folders of a relative and of the BERT to compare it with. version: changes with the weights on disk."""

    name: str
    title: str
    relative: Path
    bert: Path

    @property
    def version(self) -> int:
        return max((folder / "model.safetensors").stat().st_mtime_ns for folder in (self.relative, self.bert))


def pairs(relative: str) -> list[ModelPair]:
    """The shipped pair, then pairs that this browser trained together on the relative's page, newest first.
    relative: its model_type, which is also the name of its page."""
    folder = CHECKPOINTS / f"{relative}-toy"
    found = [ModelPair(folder.name, _("shipped, of the toy world"), folder / relative, folder / "bert")]
    runs = {run.kind: run for run in own_models() if run.kind.startswith(f"{relative}/")}
    for kind, run in runs.items():
        beside = runs.get(kind.replace(f"/{relative}-", "/bert-"))
        if beside is not None and json_object(run.result / "config.json").get("model_type") == relative:
            found.append(ModelPair(run.id, run_title(run), run.result, beside.result))
    return found


def choose_pair(relative: str) -> ModelPair:
    """A select box over `pairs`, stored in the link → the chosen pair."""
    offered = pairs(relative)
    chosen = choice("pair", _("The two models"), {pair.name: pair.title for pair in offered}, box=320)
    return next(pair for pair in offered if pair.name == chosen)


@st.cache_resource(show_spinner=False, max_entries=12)
def _networks(relative: Path, bert: Path, version: int):
    from minibert import checkpoint

    return checkpoint.load(relative), checkpoint.load(bert), checkpoint.load_tokenizer(relative)


def warn_unknown(tokens: Sequence[str]) -> None:
    """A note on how many words are [UNK], for both models."""
    if count := sum(token == "[UNK]" for token in tokens):
        words = _("{n} of your words are not in these models’ vocabulary: both read {unk} there.")
        st.caption(words.format(n=count, unk=literal("[UNK]")))


def networks(pair: ModelPair):
    """(relative, BERT, tokenizer), loaded once per server. Shared: never modify them."""
    return _networks(pair.relative, pair.bert, pair.version)
