"""The shipped recurrent networks, a BERT trained on the same stories, and the class's sentence in their vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from minibert.folders import CHECKPOINTS
from ui.lesson import Lesson
from ui.text import literal
from ui.toy_sentences import meaning
from ui.translations import _

if TYPE_CHECKING:
    from minibert.model import BertForPreTraining
    from minibert.tokenizer import Tokenizer
    from minibert.toy.recurrent import BiLm
    from minibert.toy.seq2seq import Trained

SHIPPED = CHECKPOINTS / "recurrent-toy"
MOST = 30  # tokens read, including [CLS] and [SEP]
STORIES = 5_000_003  # seed of stories outside their training data
IN_ITS_WORDS = "Anna lost the books. She searched alone. Soon she found them under the bed."


@dataclass(frozen=True)
class Reading:
    """tokens, ids: with [CLS] and [SEP] · unknown: words that are read as [UNK] · cut: whether the text was longer."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    unknown: tuple[str, ...]
    cut: bool

    @property
    def words(self) -> range:
        """The positions between [CLS] and [SEP]."""
        return range(1, len(self.ids) - 1)


@st.cache_resource(show_spinner=False)
def networks() -> tuple[BiLm, BertForPreTraining, Tokenizer]:
    """Loaded once per server, never changed."""
    from minibert import checkpoint
    from minibert.toy.recurrent import BiLm

    bert = SHIPPED / "bert"
    return BiLm.load(SHIPPED / "elmo"), checkpoint.load(bert).eval(), checkpoint.load_tokenizer(bert)


@st.cache_resource(show_spinner=False)
def copiers() -> dict[str, Trained]:
    """An LSTM encoder–decoder and a Transformer, both trained to copy a sentence. Never changed."""
    from minibert.toy.recurrent import RecurrentPair
    from minibert.toy.seq2seq import Trained

    return {
        "attention": Trained.load(SHIPPED / "copy-transformer"),
        "lstm": Trained.load(SHIPPED / "copy-lstm", RecurrentPair),
    }


def read(lesson: Lesson, text: str) -> Reading | None:
    """The sentence encoded for the toy-world networks, with a note on unknown words. None, with a note, if all words
    are unknown. An example of the page with unknown words gives way to a sentence that they know."""
    tokenizer = networks()[2]
    text = giving_way(lesson, text, tokenizer.unk_id in tokenizer.encode(text).ids)
    encoding = tokenizer.encode(text)
    ids, cut = encoding.ids, len(encoding.ids) > MOST
    if cut:
        ids = [*ids[: MOST - 1], ids[-1]]
    tokens = [tokenizer.vocab[i] for i in ids]
    unknown = [
        text[start:end]
        for token, (start, end) in zip(tokens[1:-1], encoding.offsets[1:], strict=False)
        if token == "[UNK]"
    ]
    reading = Reading(tuple(tokens), tuple(ids), tuple(dict.fromkeys(unknown)), cut)
    if len(unknown) == len(tokens) - 2:
        st.info(
            _("These networks have read the toy world only, and none of your words is in it."), icon=":material/help:"
        )
        offer()
        return None
    say_unknown(reading.unknown)
    if cut:
        st.caption(_("They read the first {n} tokens here.").format(n=MOST))
    return reading


def giving_way(lesson: Lesson, text: str, unknown: bool) -> str:
    """The text; an example of the page with unknown words gives way, with a caption, to IN_ITS_WORDS."""
    if not (unknown and text in lesson.examples):
        return text
    said = _("These small networks know the toy world only. They read: *{text}*").format(text=IN_ITS_WORDS)
    st.caption(f"{said} {meaning(IN_ITS_WORDS)}")
    return IN_ITS_WORDS


def say_unknown(words: Sequence[str]) -> None:
    """Note which words are read as [UNK], if any, and offer a sentence without unknown words."""
    if words:
        with st.container(horizontal=True, vertical_alignment="center"):
            note = _("Not in the toy world that these networks have read: {words}. They read [UNK] there.")
            st.caption(note.format(words=literal(_(", ").join(words))), width="content")
            offer()


def offer() -> None:
    st.button(
        _("A sentence in its words"), on_click=_use, key="toy-sentence", icon=":material/toys:", help=IN_ITS_WORDS
    )


def _use() -> None:
    st.session_state["sentence"] = IN_ITS_WORDS
