"""The available encoder–decoders: the user's own runs, and the shipped one."""

from typing import TYPE_CHECKING

import streamlit as st

from minibert.folders import CHECKPOINTS, runs_folder
from ui.errors import translated
from ui.runs import own_runs, settled
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    from minibert.model import BertForPreTraining
    from minibert.tokenizer import Tokenizer
    from minibert.toy.seq2seq import Trained

KIND = "encoder-decoder"  # the `kind` of its runs
SHIPPED = CHECKPOINTS / "reverse"
ALONE = CHECKPOINTS / "decoder-toy" / "left-to-right"
LONGEST = 8  # most words for a model trained on this page


def task_names() -> dict[str, str]:
    return {"reverse": _("reverse"), "sort": _("sort by the alphabet"), "copy": _("copy")}


@st.cache_resource(show_spinner=False, max_entries=8)
def trained(directory: str) -> "Trained":
    """Shared by all sessions: read only."""
    from minibert.toy.seq2seq import Trained

    return Trained.load(directory)


@st.cache_resource(show_spinner=False)
def gpt() -> "tuple[BertForPreTraining, Tokenizer]":
    """A small decoder that was trained alone. Shared by all sessions: read only."""
    from minibert import checkpoint

    return checkpoint.load(ALONE).eval(), checkpoint.load_tokenizer(ALONE)


def usable(run) -> bool:
    """Whether a run has saved a model."""
    return run.state == "finished" and settled(run) and run.result.is_dir()


def writer() -> tuple["Trained", bool]:
    """The user's newest loadable model, else the shipped one; and whether it is the user's."""
    from minibert.checkpoint import CheckpointError

    for run in filter(usable, own_runs(KIND) if runs_folder().is_dir() else []):
        try:
            return trained(str(run.result)), True
        except CheckpointError as error:
            say_unreadable(error)
    return trained(str(SHIPPED)), False


def say_unreadable(error: Exception) -> None:
    """A warning that a run of the user left no loadable model."""
    text = _("What your run has left cannot be read: {error}. Train again.")
    st.warning(text.format(error=literal(translated(error))), icon=":material/error:")


def say_unknown(model: "Trained", words: list[str]) -> None:
    """A note on the words read as [UNK], if any."""
    from minibert.toy.seq2seq import UNK

    unknown = [word for word in words[: model.longest] if word not in model.words.ids]
    if unknown:
        st.info(
            _(
                "Not among the words of this run: {words}. It reads {unk} there. Train again, and your words are "
                "learned too – or do as BERT does and cut words into pieces."
            ).format(words=literal(_(", ").join(unknown)), unk=literal(UNK)),
            icon=":material/help:",
        )


def say_repeated(model: "Trained", words: list[str]) -> None:
    """A note on repeated words, if the model was trained without them."""
    if model.task == "sort" and len(set(words)) < len(words):
        st.caption(_("A word comes twice here. Sorting was trained without that, and it shows: words may get lost."))


def say_cut(words: list[str], most: int) -> None:
    """A note that only the first `most` words are read, if there are more."""
    if len(words) > most:
        st.info(
            _("Your sentence has {n} words. The model reads the first {most}.").format(n=len(words), most=most),
            icon=":material/content_cut:",
        )
