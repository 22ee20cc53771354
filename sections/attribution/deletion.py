"""The deletion test: remove words in each method's order, for this text and for several."""

import re
from functools import partial

import streamlit as st

from sections.attribution import subject
from sections.attribution.subject import Inputs, method_names, replacement_names
from sections.attribution.values import values_of
from ui.classifiers import dev_examples, task_of
from ui.figures import figure
from ui.held_out import kind_of_text, texts
from ui.inputs import choice
from ui.lesson import Lesson
from ui.model_cache import outline_of
from ui.text import Signed
from ui.translations import _

SEVERAL, SHORT = 10, 10  # texts in the test over several; most words of each


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.attention import literal
    from plots.attribution import deletion_curves

    values, names = values_of(inputs), method_names()
    with st.spinner(_("Taking words away …")):
        test = _deletion_of(inputs.key, inputs.case, values, inputs.replacement, inputs.steps)
    most = max(map(test.fall, test.methods))
    best = [names[name] for name in test.methods if test.fall(name) > most - 0.0005]  # the same order, the same curve
    title = _("Fastest fall: {methods}, on average {fall:.1f} points below the start, at random {random:.1f}").format(
        methods=_(", ").join(best), fall=Signed(100 * most), random=Signed(100 * test.random_falls.mean())
    )
    titles = (_("words taken away"), _("P({label})").format(label=literal(inputs.case.label)), _("random order"))
    falls = _("; ").join(f"{names[name]} {Signed(test.fall(name)):.1%}" for name in test.methods)
    figure(
        partial(deletion_curves, test.methods, test.random, names, titles, title),
        _(
            "How far the probability falls, on average over the curve: {falls}; random {random:.1%} ± {spread:.1%}."
        ).format(falls=falls, random=Signed(test.random_falls.mean()), spread=test.random_falls.std(ddof=1)),
        "deletion",
        data=lambda: [
            {_("words taken away"): i, **{names[name]: float(curve[i]) for name, curve in test.methods.items()}}
            for i in range(len(inputs.case.words) + 1)
        ],
    )
    lesson.show("The deletion test")
    lesson.show("One text is an anecdote")
    _several(inputs)


@st.cache_data(show_spinner=False, max_entries=128)
def _deletion_of(key: tuple, _case, _values: dict, replacement: str, steps: int):
    from minibert.inside.explanations.attribution import deletion_test

    return deletion_test(_case, _values, replacement)


@st.cache_data(show_spinner=False, max_entries=64)
def _one_of_several(owner: tuple, _inputs: Inputs, fields: tuple, replacement: str) -> dict | None:
    """Method (and "random") → mean fall of the score; None for a text that is too long."""
    from minibert.inside.explanations.attribution import attributions, deletion_test

    run, model = _inputs.run, _inputs.model
    case = subject.case_of(run.id, run, fields, None) if run else subject.guess_of(model, dict(fields)["text"])
    if isinstance(case, str) or len(case.words) > SHORT:
        return None
    test = deletion_test(case, attributions(case, replacement, steps=16), replacement)
    return {**{name: test.fall(name) for name in test.methods}, "random": float(test.random_falls.mean())}


@st.fragment
def _several(inputs: Inputs) -> None:
    replacement = choice("holes", _("Instead of a missing word stands"), replacement_names())
    owner = (inputs.run.id if inputs.run else inputs.model,)
    done = ("several", *owner, replacement)
    if not st.session_state.get("_several", {}).get(done):
        label = _("Test on {n} short held-out texts").format(n=SEVERAL)
        if not st.button(label, icon=":material/play_arrow:", key="several"):
            return
        st.session_state.setdefault("_several", {})[done] = True
    rows, bar = [], st.empty()
    for fields in _held_out(inputs):
        bar.progress(len(rows) / SEVERAL, text=_("{n} of {all} texts").format(n=len(rows), all=SEVERAL))
        row = _one_of_several(owner, inputs, fields, replacement)
        rows += [row] if row else []
        if len(rows) == SEVERAL:
            break
    bar.empty()
    if not rows:
        st.info(_("No held-out text has {n} words or fewer.").format(n=SHORT))
        return
    from plots.attribution import falls

    names = {**method_names(), "random": _("random order")}
    columns = {name: [row[name] for row in rows] for name in names}
    means = {name: sum(points) / len(points) for name, points in columns.items()}
    best = max(method_names(), key=means.get)
    title = _("{n} texts: {method} falls by {fall:.1%}, random by {random:.1%}").format(
        n=len(rows), method=names[best], fall=means[best], random=means["random"]
    )
    figure(
        partial(falls, columns, names, _("mean fall of the probability"), title),
        _("Mean fall of the probability over {n} texts: {means}.").format(
            n=len(rows), means=_("; ").join(f"{names[name]} {mean:.1%}" for name, mean in means.items())
        ),
        "falls",
        data=lambda: [{names[name]: row[name] for name in names} for row in rows],
    )


def _held_out(inputs: Inputs) -> list[tuple]:
    """Texts outside the model's training data, shortest first, in the form that `case_of` takes."""
    if inputs.run is None:
        found = texts(kind_of_text(outline_of(inputs.model).tokenizer))
        return [(("text", with_blank(text)),) for text in sorted(found, key=len)]
    fields = ("text", "pair") if task_of(inputs.run) == "pair" else ("text",)
    examples = sorted(dev_examples(inputs.run), key=lambda example: sum(len(example[name]) for name in fields))
    return [tuple((name, example[name]) for name in fields) for example in examples]


def with_blank(text: str) -> str:
    """The text with its longest word masked, the first of several; without Latin words, its middle character."""
    found = list(re.finditer(r"[A-Za-z]+", text))
    if not found:
        return f"{text[: len(text) // 2]}[MASK]{text[len(text) // 2 + 1 :]}"
    word = max(found, key=lambda match: len(match.group()))
    return f"{text[: word.start()]}[MASK]{text[word.end() :]}"
