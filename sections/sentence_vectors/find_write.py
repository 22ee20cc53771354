"""SimBERT: a shipped one finds the desk's questions with the same meaning, and writes new ones; one is trained live."""

import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.sentence_vectors import write_live
from sections.sentence_vectors.subject import MAX_CHARS, Subject
from ui.figures import figure
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.samples import questions
from ui.source import show_source
from ui.text import visible
from ui.translations import _

SHIPPED, VOCABULARY = CHECKPOINTS / "simbert" / "zh", "mini-zh"  # VOCABULARY: the model it was trained from
FOUND, DRAWS = 4, 8


@st.cache_resource(show_spinner=False)
def loaded():
    """Shared by all sessions, never changed."""
    from minibert import checkpoint

    return checkpoint.load(SHIPPED).eval(), checkpoint.load_tokenizer(SHIPPED)


@st.cache_data(show_spinner=False, max_entries=1)
def desk_vectors():
    from minibert.sentence_vectors.simbert import cls_vectors

    model, tokenizer = loaded()
    return cls_vectors(model.bert, tokenizer, [question for question, _standard in questions("zh")])


@st.cache_data(show_spinner=False, max_entries=200)
def found_and_written(text: str) -> tuple[list[tuple[int, float]], list[tuple[str, float]]]:
    from minibert.inside.geometry.vectors import nearest
    from minibert.sentence_vectors.simbert import cls_vectors, paraphrases

    model, tokenizer = loaded()
    query = cls_vectors(model.bert, tokenizer, [text])[0]
    return nearest(desk_vectors(), query, FOUND), paraphrases(model, tokenizer, text, draws=DRAWS)


def show(lesson: Lesson, seen: Subject) -> None:
    from minibert.sentence_vectors.simbert import retrieval_loss

    lesson.show("Find and write", title=False)
    shipped(lesson)
    write_live.show(lesson, seen)
    lesson.show("What it learns from")
    show_source(retrieval_loss)


@st.fragment
def shipped(lesson: Lesson) -> None:
    from plots.sentence_vectors import Found, nearest_bars

    text = sentence_input(
        "question",
        lesson.examples_called("zh"),
        max_chars=MAX_CHARS,
        label=_("A question, in Chinese: it is found, and written anew"),
    ).strip()
    if not any(map(str.isalnum, text)):
        st.info(_("Type a question."), icon=":material/edit:")
        return
    warn_unread_text(VOCABULARY, text)
    with st.spinner(_("Reading and writing …")):
        found, written = found_and_written(text)
    desk = questions("zh")
    first = desk[found[0][0]][1]
    rows = [Found(desk[i][0], cosine, desk[i][1] == first) for i, cosine in found]
    for title, kind, some, searched in (
        (_("It finds: “{line}”").format(line=first), "simbert-found", rows, len(desk)),
        (_("It writes"), "simbert-written", [Found(one, cosine, True) for one, cosine in written], DRAWS),
    ):
        if not some:
            st.info(_("All it has written is the question itself."), icon=":material/edit_off:")
            continue
        figure(
            nearest_bars(some, title, _("cosine of [CLS]"), searched),
            _("{title}. {lines}").format(
                title=title, lines="; ".join(f"{visible(row.line, spaces=False)} {row.cosine:.2f}" for row in some)
            ),
            kind,
            wide=True,
            data=[{_("sentence"): row.line, _("cosine"): round(row.cosine, 3)} for row in some],
        )
    st.caption(
        _(
            "Blue: asks the same as the nearest, by the desk’s list; and what is written, the best of {n} drafts by "
            "their own cosine with the question."
        ).format(n=DRAWS)
    )
