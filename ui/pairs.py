"""Pairs of a relative and a BERT: those trained on the same texts, and checkpoints of MINIBERT_MODELS."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.checkpoint_files import changed
from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from ui.inputs import choice
from ui.model_registry import ModelInfo, config_values, further_models, model_named
from ui.model_widgets import WELL_READ, show_refused
from ui.runs import own_models, run_title
from ui.text import literal
from ui.translations import _, ngettext


def names_html(names: Sequence[str]) -> str:
    """The names of a picture's rows, at their left, as the first of its columns; safe HTML."""
    rows = "".join(f"<span>{html.escape(name)}</span>" for name in names)
    return f'<li class="mb-names" aria-hidden="true"><b>{html.escape(_("From the top:"))} </b>{rows}</li>'


@dataclass(frozen=True)
class ModelPair:
    """Folders of a relative and of the BERT to compare it with. version: changes with the weights on disk · further: of
    MINIBERT_MODELS; the two have not read the same texts, and each has a vocabulary of its own."""

    name: str
    title: str
    relative: Path
    bert: Path
    further: bool = False

    @property
    def version(self) -> int:
        return max(changed(self.relative), changed(self.bert))


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


def of_type(model_type: str) -> list[ModelInfo]:
    """The checkpoints of MINIBERT_MODELS with this model_type."""
    return [info for info in further_models() if config_values(info.directory).get("model_type", "bert") == model_type]


def further_pairs(relative: str) -> list[ModelPair]:
    """Each checkpoint of the relative in MINIBERT_MODELS, beside a BERT from there with as many layers, else beside the
    course's."""
    found = []
    for info in of_type(relative):
        layers = config_values(info.directory).get("num_hidden_layers")
        alike = [one for one in of_type("bert") if config_values(one.directory).get("num_hidden_layers") == layers]
        bert = alike[0] if alike else model_named(WELL_READ)
        title = _("{relative} beside {bert}").format(relative=info.title, bert=bert.title)
        found.append(ModelPair(info.name, title, info.directory, bert.directory, further=True))
    return found


def choose_pair(relative: str, *, further: bool = False) -> ModelPair:
    """A select box over `pairs`, stored in the link → the chosen pair. further: and over `further_pairs`."""
    offered = [*pairs(relative), *(further_pairs(relative) if further else ())]
    chosen = choice("pair", _("The two models"), {pair.name: pair.title for pair in offered}, box=320)
    if not further and (left_out := of_type(relative)):
        words = _("Not offered: {names}. The page needs a BERT beside it that has read the same texts.")
        st.caption(words.format(names=_(", ").join(literal(info.title) for info in left_out)))
    show_refused()
    return next(pair for pair in offered if pair.name == chosen)


@st.cache_resource(show_spinner=False, max_entries=12)
def _networks(relative: Path, bert: Path, version: int):
    from minibert import checkpoint

    return checkpoint.load(relative), checkpoint.load(bert), checkpoint.load_tokenizer(relative)


def warn_unknown(tokens: Sequence[str]) -> None:
    """A note on how many words are [UNK], for both models."""
    if count := sum(token == "[UNK]" for token in tokens):
        words = ngettext(
            "{n} of your words is not in these models’ vocabulary: both read {unk} there.",
            "{n} of your words are not in these models’ vocabulary: both read {unk} there.",
            count,
        )
        st.caption(words.format(n=count, unk=literal("[UNK]")))


@st.cache_resource(show_spinner=False, max_entries=12)
def tokenizer_of(folder: Path, version: int):
    """The tokenizer of one of the two, for a pair whose vocabularies differ."""
    from minibert.checkpoint_files import load_tokenizer

    return load_tokenizer(folder)


def networks(pair: ModelPair):
    """(relative, BERT, tokenizer), loaded once per server. Shared: never modify them."""
    return _networks(pair.relative, pair.bert, pair.version)
