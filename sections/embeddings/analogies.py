"""Analogies: a is to b as c is to which word, in the table of token embeddings; and how often the answer is right."""

import tomllib

import numpy as np
import streamlit as st

from sections.embeddings.subject import Inputs, comparable
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import LESSONS, Lesson
from ui.model_cache import load, version_of
from ui.model_registry import title_of
from ui.text import literal, show_tokens, visible
from ui.translations import _

ANSWERS = 8
USUAL = {"en": ("father", "brother", "mother"), "zh": ("男", "女", "父")}


@st.cache_resource(show_spinner=False, max_entries=6)
def table_of(model: str, version: int):
    """Shared by all sessions: never changed."""
    from minibert.inside.geometry.analogies import word_table

    loaded = load(model)
    return word_table(loaded.model, loaded.tokenizer)


@st.cache_data(show_spinner=False, max_entries=24)
def scores(model: str, version: int, language: str, leave_out: bool) -> dict[str, tuple[float, int]]:
    """Kind of pairs → share of right answers, number of questions."""
    from minibert.inside.geometry.analogies import share_right

    kinds = tomllib.loads((LESSONS / "embeddings" / "analogies.toml").read_text(encoding="utf-8"))[language]

    def compute() -> dict[str, np.ndarray]:
        table = table_of(model, version)
        return {kind: np.array(share_right(table, pairs, leave_out)) for kind, pairs in kinds.items()}

    stored = first_view("embeddings", "analogies", model, [kinds, leave_out], compute)
    return {kind: (float(share), int(count)) for kind, (share, count) in stored.items() if count}


def kind_names() -> dict[str, str]:
    return {
        "family": _("man : woman"),
        "number": _("one : many"),
        "past": _("now : then"),
        "degree": _("good : better"),
        "capital": _("country : capital"),
        "opposite": _("opposites"),
    }


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    words = _three_words(inputs.language)
    leave_out = not st.toggle(_("Let the three words be answers too"), key="with-own", bind="query-params")
    _answer(inputs, words, leave_out)
    lesson.show("Sums with words", title=False)
    _how_often(inputs, leave_out)
    lesson.show("What the sums tell", level=3)


def _three_words(language: str) -> list[str]:
    labels = (_("This word"), _("is to this"), _("as this is to …"))
    with st.container(horizontal=True, key="analogy"):
        return [
            st.text_input(label, usual, max_chars=40, key=f"sum-{language}-{at}", bind="query-params").strip().lower()
            for at, (label, usual) in enumerate(zip(labels, USUAL[language], strict=True), 1)
        ]


def _answer(inputs: Inputs, words: list[str], leave_out: bool) -> None:
    from minibert.inside.geometry.analogies import answers

    table = table_of(inputs.model, version_of(inputs.model))
    lost = [word for word in words if word not in table.places]
    if lost:
        note = _("The vocabulary does not have “{word}” as one whole word, so there is no vector for it.")
        st.info(note.format(word=literal(visible(lost[0]))), icon=":material/translate:")
        return
    a, b, c = map(literal, words)
    best = answers(table, *words, ANSWERS, leave_out)
    st.markdown(f"### {a} : {b} = {c} : **{literal(best[0][0])}**")
    show_tokens(
        [word for word, _cosine in best],
        kinds=["changed" if word in words else "plain" for word, _cosine in best],
        under=[f"{cosine:.2f}" for _word, cosine in best],
        label=_("Words nearest to {b} − {a} + {c}, with their cosines").format(a=a, b=b, c=c),
    )


def _how_often(inputs: Inputs, leave_out: bool) -> None:
    from plots.pretraining import right_by_kind
    from plots.theme import titled

    names = {inputs.model: title_of(inputs.model)}
    names |= {info.name: info.title for info in comparable(inputs.model, inputs.language)}
    by_model = {name: scores(model, version_of(model), inputs.language, leave_out) for model, name in names.items()}
    by_model = {name: one for name, one in by_model.items() if one}
    if not by_model:
        return
    words = kind_names()
    shares = {name: {words[kind]: share for kind, (share, _n) in one.items()} for name, one in by_model.items()}
    counts = next(iter(by_model.values()))
    details = _("; ").join(
        f"{name}{_(': ')}" + _(", ").join(f"{kind} {share:.0%}" for kind, share in one.items())
        for name, one in shares.items()
    )
    means = {name: sum(one.values()) / len(one) for name, one in shares.items()}
    best = max(means, key=means.get)
    finding = _("{name} answers {share:.0%} of such questions").format(name=names[best], share=means[best])
    figure(
        titled(right_by_kind(shares, _("first answer right")), finding),
        _("{n} questions of {kinds} kinds. {told}.").format(
            n=sum(n for _share, n in counts.values()), kinds=len(counts), told=details
        ),
        "analogies",
        data=[{_("model"): name, **one} for name, one in shares.items()],
    )
