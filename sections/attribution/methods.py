"""One method's values in the text, how the methods' rankings agree, and why they differ."""

from functools import partial

import numpy as np
import streamlit as st

from sections.attribution.subject import Inputs, column_names, method_names
from sections.attribution.values import values_of
from ui.attributed_text import show_attributed
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import Signed
from ui.translations import _


def show_one(lesson: Lesson, inputs: Inputs) -> None:
    names, values, words = method_names(), values_of(inputs), inputs.words
    method = choice("method", _("Method"), {name: names[name] for name in ("integrated", *names)}, wrap=True)
    word_values, cases = values[method], inputs.case.words
    breaks = [i for i in range(1, len(words)) if cases[i].segment != cases[i - 1].segment]
    show_attributed(
        words,
        word_values.tolist(),
        label=_("The text, with what each word speaks for"),
        breaks=breaks,
        titles=[f"{word}: {Signed(value):+.4f}" for word, value in zip(words, word_values, strict=True)],
    )
    st.caption(sum_in_words(method, word_values, inputs))
    lesson.show("The question")
    lesson.show("Five answers")


def sum_in_words(method: str, values, inputs: Inputs) -> str:
    """What a method's values sum to, and what they should sum to."""
    total, score = Signed(values.sum()), Signed(inputs.case.score)
    if method == "rollout":
        return _("Shares of 1: these words have {total:.2f}, the other tokens the rest. No sign, no class.").format(
            total=total
        )
    if method in ("integrated", "shapley"):
        from minibert.inside.explanations.attribution import nothing_left

        start = Signed(nothing_left(inputs.case, inputs.replacement, gradients=method == "integrated"))
        return _(
            "Sum {total:+.3f}. The score is {score:+.3f}, without any word {start:+.3f}: the sum should be "
            "{wanted:+.3f}."
        ).format(total=total, score=score, start=start, wanted=Signed(score - start))
    return _("Sum {total:+.3f}. Nothing says what these should sum to: the score is {score:+.3f}.").format(
        total=total, score=score
    )


def show_agreement(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.explanations.attribution import agreement as correlations
    from plots.attribution import agreement_matrix

    matrix = correlations(values_of(inputs))
    names, short = list(method_names().values()), list(column_names().values())
    places = [(i, j) for i in range(len(names)) for j in range(i)]
    pairs = [_("{a} and {b}: {rho:.2f}").format(a=names[i], b=names[j], rho=Signed(matrix[i, j])) for i, j in places]
    known = [place for place in places if not np.isnan(matrix[place])]
    title = _("Too few words for a rank correlation")
    if known:
        least = min(round(matrix[place], 2) for place in known)
        (i, j), *more = [place for place in known if round(matrix[place], 2) == least]
        title = _("Least alike: {a} and {b}, ρ = {rho:.2f}").format(a=names[i], b=names[j], rho=Signed(least))
        if more:
            title = _("Least alike (ρ = {rho:.2f}): {n} pairs of methods")
            title = title.format(n=1 + len(more), rho=Signed(least))
    with st.container(width=760):
        figure(
            partial(agreement_matrix, matrix, short, title),
            _("Rank correlations. {pairs}.").format(pairs=_("; ").join(pairs)),
            "agreement",
            data=lambda: [
                {_("method"): name, **dict(zip(names, row, strict=True))}
                for name, row in zip(names, matrix.tolist(), strict=True)
            ],
        )
    lesson.show("Do they agree?")


def show_why(lesson: Lesson, inputs: Inputs | None = None) -> None:
    from minibert.inside.explanations import attribution

    lesson.show("Why they differ")
    lesson.show("The code")
    show_source(attribution.gradient_times_input, find="autograd.grad")
    show_source(attribution.integrated_gradients, find="autograd.grad")
    show_source(attribution.exact_shapley, find="weight[")
    show_source(attribution.rolled_out, find="@ total")
    show_source(attribution.deletion_test, find="rank[")
