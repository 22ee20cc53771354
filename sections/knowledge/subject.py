"""The sentence, the user's own fact, the lesson's knowledge base, and the model."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import streamlit as st

from ui.inputs import choice, sentence_input
from ui.lesson import LESSONS, Lesson
from ui.limits import say_left_out, warn_unread_text
from ui.model_cache import language_read, load, outline_of, version_of
from ui.model_widgets import WELL_READ, model_choice
from ui.page import drawer
from ui.translations import _

if TYPE_CHECKING:
    from minibert.knowledge.noise import BlankPrediction
    from minibert.knowledge.sentence_tree import Fact, KnowledgeBase, SentenceTree
    from minibert.tokenizer import Encoding

MOST_TOKENS, MAX_CHARS = 40, 240
SEPARATOR = "|"
FACT = 309  # pixels, so that the sentence with its [MASK] has the rest of the row


@dataclass(frozen=True)
class Inputs:
    """text, model: the sentence and the model's name · own: the user's fact, None if the field has none · known:
    whether the lesson's facts are attached too."""

    text: str
    model: str
    own: "Fact | None"
    known: bool

    @cached_property
    def encoding(self) -> "Encoding":
        return outline_of(self.model).tokenizer.encode(self.text, max_length=MOST_TOKENS, truncation="head")

    @property
    def blank(self) -> int | None:
        """Position of the [MASK] in the sentence, if it has one."""
        ids, mask = self.encoding.ids, outline_of(self.model).tokenizer.mask_id
        return ids.index(mask) if mask in ids else None

    @cached_property
    def tree(self) -> "SentenceTree":
        from minibert.knowledge.sentence_tree import KnowledgeBase, mentions, sentence_tree

        known = knowledge(language_read(self.model)).facts if self.known else ()
        facts = KnowledgeBase([*([self.own] if self.own else []), *known])
        hung = mentions(facts, self.encoding, self.text)
        return sentence_tree(outline_of(self.model).tokenizer, self.encoding, hung)


@st.cache_resource(show_spinner=False)
def knowledge(language: str) -> "KnowledgeBase":
    """The lesson's facts in one language."""
    from minibert.knowledge.sentence_tree import KnowledgeBase

    return KnowledgeBase.read(LESSONS / "knowledge" / f"facts.{language}.tsv")


def read(lesson: Lesson) -> Inputs:
    """Sentence and fact beside each other; model and knowledge base in the drawer."""
    with st.container(horizontal=True, key="asked", vertical_alignment="bottom", gap="xsmall"):
        left, middle = st.container(), st.container(width=FACT, key="asked-fact")
        with drawer(key="knowledge-drawer"):
            examples = st.container()
            model = model_choice(fill=True, default=WELL_READ)
            known = choice("base", _("The lesson’s own facts"), {"off": _("left out"), "on": _("attached, too")})
    sentences = lesson.examples_for(model)
    with left:
        text = sentence_input(
            "text",
            sentences,
            label=_("A sentence, with a [MASK] if you like"),
            max_chars=MAX_CHARS,
            examples_in=examples,
            travels=True,
            blanks=True,
        )
    wrong = lesson.examples_called("wrong-zh" if language_read(model) == "zh" else "wrong")
    with middle:
        line = sentence_input(
            "fact", wrong, label=_("A fact: subject | relation | object"), max_chars=120, examples_in=examples
        )
    warn_unread_text(model, text, most=MOST_TOKENS)
    say_left_out(len(outline_of(model).tokenizer.encode(text)) - MOST_TOKENS)
    return Inputs(text, model, fact_of(line), known == "on")


def fact_of(line: str) -> "Fact | None":
    """The fact in the field, if it has three parts."""
    from minibert.knowledge.sentence_tree import Fact

    parts = [part.strip() for part in line.split(SEPARATOR)]
    return Fact(*parts) if len(parts) == 3 and all(parts) else None


def ways() -> dict[str, str]:
    """Display names of the ways to read facts: minibert.knowledge.noise.WAYS and "none"."""
    return {
        "none": _("without facts"),
        "both": _("K-BERT: matrix and soft positions"),
        "matrix": _("matrix, counted through"),
        "positions": _("soft positions, all see all"),
        "neither": _("simply written into it"),
    }


@st.cache_data(show_spinner=False, max_entries=64)
def answers_of(model: str, version: int, tree: "SentenceTree", blank: int, most: int) -> "dict[str, BlankPrediction]":
    from minibert.knowledge.noise import blank_predictions

    loaded = load(model)
    return blank_predictions(loaded.model, loaded.tokenizer, tree, blank, most)


def answers(inputs: Inputs, most: int) -> "dict[str, BlankPrediction]":
    """The `most` likeliest words at the blank, for each of `ways`."""
    return answers_of(inputs.model, version_of(inputs.model), inputs.tree, inputs.blank, most)
