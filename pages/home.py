"""Home: the road from text to an answer, who may look where, and what this class has trained."""

import streamlit as st

from ui.figures import figure, legend
from ui.inputs import clicked, sentence_input
from ui.lesson import Lesson
from ui.navigation import link_to, next_lesson, parts
from ui.runs import show_runs
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.text import literal
from ui.translations import _, ngettext

lesson = Lesson("home")
FIRST = 2  # the word chosen at the start: "bank", which what follows makes clear


def road() -> None:
    """The parts of the course and their stops; each is a link to its lesson."""
    about = {
        "tokenization": _("Text becomes **tokens**: pieces from a fixed vocabulary."),
        "input": _("Tokens become **vectors**: what, where, and which sentence."),
        "attention": _("Every token **looks at** every other, layer after layer."),
        "encoder_decoder": _("A **block** whole, and why BERT keeps the encoder only."),
        "parameters": _("All that is **numbers**: count them, to the last one."),
        "masking": _("**Hide** words, guess them from both sides."),
        "next_sentence": _("Does this text **follow** that one?"),
        "pretraining": _("**Train** a BERT in a minute, and look back at how it learned."),
        "experiments": _("What the paper **left out**, piece by piece, in small."),
        "output_layer": _("One small layer more gives the **answer**, whatever the task."),
        "features": _("Train all of BERT, or only **read** its layers?"),
        "stability": _("The same settings, another **seed**, another score."),
        "training_options": _("Rates by layer, dropout, truncation, more data: **what each does**."),
        "service": _("A TSV in, a checked model out, answering **over HTTP**."),
        "attention_explorer": _("All heads at once: what they look at, and what breaks **without them**."),
        "embeddings": _("One word, several **meanings**: vectors from layer to layer."),
        "probes": _("Surface, syntax, meaning: **what each layer knows**."),
        "attribution": _("Which words **made the answer**? Five methods, compared."),
        "wrong_reasons": _("High scores for the **wrong reasons**, and how to notice."),
        "examination": _("Questions with **numbers of your own**, marked at once, with reasons."),
    }
    number = 0
    for title, stops in list(parts().items())[1:]:  # the first is where we are
        st.markdown(f"#### {title}")
        with st.grid(3, min_column_width=230, key=f"road-{stops[0].name}") as grid:
            for stop in stops:
                number += 1
                with grid.container(border=True, height="stretch", key=f"stop-{stop.name}"):
                    link_to(stop.name, label=f"{number}. {stop.title}")
                    st.markdown(about[stop.name])


@st.fragment
def who_may_look_where() -> None:
    """ELMo, GPT and BERT over the reader's sentence; a click on a position shows what reaches it in each."""
    from minibert.inside.visibility import MODELS, reach
    from minibert.tokenizer import basic_tokens
    from plots.theme import BLUE, GREEN, GREY, ORANGE
    from plots.visibility import MAX_WORDS, visibility

    text = sentence_input("sentence", lesson.examples, label=_("A sentence"))
    words = basic_tokens(text)
    if not words:
        st.info(_("Type at least one word."), icon=":material/edit:")
        return
    if len(words) > MAX_WORDS:
        st.caption(_("The pictures show the first {n} of {total} words.").format(n=MAX_WORDS, total=len(words)))
        words = words[:MAX_WORDS]
    n = len(words)
    if follow_link("word") or "word" not in st.session_state:
        st.session_state.word = url_int("word", min(FIRST, n), 1, n) - 1
    st.session_state.word = min(st.session_state.word or 0, n - 1)
    position = st.segmented_control(
        _("Whose vector?"), range(n), format_func=lambda i: literal(words[i]), key="word", required=True
    )
    set_url("word", position + 1, default=min(FIRST, n))

    legend(
        [
            (BLUE, "●", _("computed from the left only")),
            (ORANGE, "◆", _("from the right only")),
            (GREEN, "■", _("from both sides")),
            (GREY, "○", _("hollow: does not reach the chosen word")),
        ]
    )
    for column, model in zip(st.columns(3), MODELS, strict=True):
        with column:
            seen = reach(model, position, n)
            st.markdown(f"### {model}")
            figure(
                visibility(words, position, model),
                in_words(model, words, position, seen),
                f"see-{model}",
                on_select=lambda key=f"see-{model}": clicked(key, "word"),
            )
            st.markdown(summary(model, seen, n))
    show_source(reach)


def summary(model: str, seen, n: int) -> str:
    """How much the chosen position sees, in a line."""
    amount = ngettext("Sees **{seen} of {n} word**", "Sees **{seen} of {n} words**", n).format(
        seen=len(seen.words), n=n
    )
    how = {
        "ELMo": _("one half sees {left}, the other {right}; they are joined only on top").format(
            left=len(seen.left), right=len(seen.right)
        ),
        "GPT": _("itself and what stands to its left"),
        "BERT": _("both sides, together in every layer"),
    }[model]
    far = ngettext("the farthest is {n} step away", "the farthest is {n} steps away", seen.steps).format(n=seen.steps)
    return f"{amount}: {how}; {far}."


def in_words(model: str, words: list[str], position: int, seen) -> str:
    """The figure's text alternative."""
    hidden = [words[j] for j in range(len(words)) if j not in seen.words]
    return _("{model}: the vector of “{word}” is computed from: {seen}. Out of sight: {hidden}.").format(
        model=model,
        word=words[position],
        seen=", ".join(words[j] for j in seen.words),
        hidden=", ".join(hidden) or _("nothing"),
    )


lesson.show_title()
lesson.show("The road")
road()
lesson.show("Who may look where")
who_may_look_where()
lesson.show("What the pictures say", title=False)
lesson.show("What this class has trained")
show_runs()
lesson.show("How to use this classroom")
for column, heading in zip(st.columns(2), ("For the teacher", "For the student"), strict=True):
    with column.container(border=True, height="stretch"):
        lesson.show(heading, level=3)
lesson.quiz()
next_lesson("home")
