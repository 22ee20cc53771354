"""A relative and the BERT that has read the same: which there are, the choice of one, their weights."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.text.json_values import json_object
from ui.folders import CHECKPOINTS
from ui.inputs import choice
from ui.runs import own_models, run_title
from ui.translations import _


@dataclass(frozen=True)
class Pair:
    """Where a relative lies, and the BERT beside it. version: changes when the weights on disk do."""

    name: str
    title: str
    relative: Path
    bert: Path

    @property
    def version(self) -> int:
        return max((folder / "model.safetensors").stat().st_mtime_ns for folder in (self.relative, self.bert))


def pairs(relative: str) -> list[Pair]:
    """The pair that ships, then those that this browser has trained together on the relative's page, the newest first.
    relative: its model_type, which is also the name of its page."""
    folder = CHECKPOINTS / f"{relative}-toy"
    found = [Pair(folder.name, _("shipped, of the toy world"), folder / relative, folder / "bert")]
    runs = {run.kind: run for run in own_models() if run.kind.startswith(f"{relative}/")}
    for kind, run in runs.items():
        beside = runs.get(kind.replace(f"/{relative}-", "/bert-"))
        if beside is not None and json_object(run.result / "config.json").get("model_type") == relative:
            found.append(Pair(run.id, run_title(run), run.result, beside.result))
    return found


def choose_pair(relative: str) -> Pair:
    """A choice of one of `pairs`, in the link."""
    offered = pairs(relative)
    chosen = choice("pair", _("The two models"), {pair.name: pair.title for pair in offered}, box=320)
    return next(pair for pair in offered if pair.name == chosen)


@st.cache_resource(show_spinner=False, max_entries=12)
def _networks(relative: Path, bert: Path, version: int):
    from minibert import checkpoint

    return checkpoint.load(relative), checkpoint.load(bert), checkpoint.load_tokenizer(relative)


def networks(pair: Pair):
    """(the relative, BERT, tokenizer), loaded once per server, never changed."""
    return _networks(pair.relative, pair.bert, pair.version)
