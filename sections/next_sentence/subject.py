"""What the whole page is about: the model that judges, the documents that pairs come from, the kinds of pairs."""

from dataclasses import dataclass

import streamlit as st

from ui.lesson import LESSONS
from ui.model_cache import language_read, load
from ui.model_registry import available_models
from ui.model_widgets import WELL_READ, model_choice
from ui.page import drawer
from ui.text import literal
from ui.translations import _, pgettext

DOCUMENTS = LESSONS / "data" / "documents"


@dataclass(frozen=True)
class Inputs:
    """model: the name of the one that judges."""

    model: str


def read() -> Inputs:
    """The model, in a drawer."""
    with drawer():
        model = model_choice(
            judge=True,
            label=_("Model: its vocabulary cuts the text, its next-sentence head judges"),
            default=WELL_READ,
        )
        asked_for_order = [literal(info.title) for info in available_models() if info.objective == "mlm+sop"]
        if asked_for_order:
            words = _(
                "Not in the list: {names}. Such a model was pre-trained on the order of two segments, not on "
                "whether one follows the other."
            )
            st.caption(words.format(names=_(", ").join(asked_for_order)))
    return Inputs(model)


def kind_names() -> dict[str, str]:
    return {
        "next": _("what really follows"),
        "elsewhere": _("another document, another topic"),
        "topic": _("another document, same topic"),
        "apart": _("same document, not adjacent"),
        "swapped": _("the true pair, swapped"),
    }


def short_names() -> dict[str, str]:
    return {
        "next": pgettext("a sentence", "next"),
        "elsewhere": _("another topic"),
        "topic": _("same topic"),
        "apart": _("same document"),
        "swapped": _("swapped"),
    }


@st.cache_data(show_spinner=False)
def bundled(language: str) -> tuple[list[list[str]], list[int]]:
    """The documents of the course in one language and, for each, its topic number."""
    from minibert.text.documents import read_documents

    names = (f"{name}-zh" if language == "zh" else name for name in ("topics", "again"))
    first, again = (list(read_documents([DOCUMENTS / f"{name}.txt"])) for name in names)
    return first + again, [*range(len(first)), *range(len(again))]


@st.cache_resource(show_spinner=False, max_entries=8)
def topic_judge(model: str, version: int):
    """The topic judge, and its verdicts on the documents' pairs."""
    from minibert.inside.predictions.next_sentence import TopicOverlap, TopicVerdicts, probes

    loaded = load(model)
    documents = bundled(language_read(model))
    overlap = TopicOverlap(loaded.model, loaded.tokenizer, documents[0])
    return overlap, TopicVerdicts.of(overlap, probes(*documents))
