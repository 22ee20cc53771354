"""One method at a time: its values in the text, and what they sum to."""

import streamlit as st

from sections.attribution import subject
from sections.attribution.subject import Inputs, method_names
from ui.attributed_text import show_attributed
from ui.inputs import choice
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    names, values, words = method_names(), subject.values_of(inputs), inputs.words
    method = choice("method", _("Method"), {name: names[name] for name in ("integrated", *names)}, wrap=True)
    shown, cases = values[method], inputs.case.words
    breaks = [i for i in range(1, len(words)) if cases[i].segment != cases[i - 1].segment]
    show_attributed(
        words,
        shown.tolist(),
        label=_("The text, with what each word speaks for"),
        breaks=breaks,
        titles=[f"{word}: {value:+.4f}" for word, value in zip(words, shown, strict=True)],
    )
    st.caption(sum_in_words(method, shown, inputs))
    lesson.show("The question")
    lesson.show("Five answers")


def sum_in_words(method: str, values, inputs: Inputs) -> str:
    """What a method's values sum to, and what they should sum to."""
    total, score = float(values.sum()), inputs.case.score
    if method == "rollout":
        return _("Shares of 1: these words have {total:.2f}, the other tokens the rest. No sign, no class.").format(
            total=total
        )
    if method in ("integrated", "shapley"):
        from minibert.inside.explanations.attribution import nothing_left

        start = nothing_left(inputs.case, inputs.replacement, gradients=method == "integrated")
        return _(
            "Sum {total:+.3f}. The score is {score:+.3f}, without any word {start:+.3f}: the sum should be "
            "{wanted:+.3f}."
        ).format(total=total, score=score, start=start, wanted=score - start)
    return _("Sum {total:+.3f}. Nothing says what these should sum to: the score is {score:+.3f}.").format(
        total=total, score=score
    )
