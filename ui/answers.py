"""For every task: the form for an input of one's own, the model's prediction, and its mistakes on a dev set."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.cases import cases_html
from ui.errors import translated
from ui.inputs import pick, state
from ui.tasks import VIEWS
from ui.text import literal
from ui.translations import _

WIDE = 240  # pixels of a select box
PAGE = 12  # mistakes shown at first


def answer_form(
    task: Any, example: Any, key: str, columns: Mapping[str, Sequence[str] | None] | None = None
) -> dict[str, Any] | str | None:
    """Fields for an input of the task, pre-filled from `example` and refilled when `example` changes. columns: metadata
    columns the model reads beside the text, each with its possible values; None for columns of free text.

    Returns the argument of `Predictor.predict`; None, with a hint, while it is incomplete. Short texts are in the link.
    """
    columns = columns or {}
    before = st.session_state.get(f"_{key}-example")
    if before is not None and before != example:
        fields = {field for one in VIEWS.values() for field in one.fields}  # another task may have come
        for name in (f"{key}-{field}" for field in (*fields, *map(_column, columns))):
            for state_key in (name, state(name)):
                st.session_state.pop(state_key, None)
            st.query_params.pop(name, None)
    st.session_state[f"_{key}-example"] = example
    inputs = VIEWS[task.name].form(example, key)
    beside = _values_beside(example, key, columns)
    if inputs is None or not beside:
        return inputs
    return {**(inputs if isinstance(inputs, dict) else {"text": inputs}), **beside}


def _column(name: str) -> str:
    return f"column-{name}"


def _values_beside(example: Any, key: str, columns: Mapping[str, Sequence[str] | None]) -> dict[str, str]:
    """Column → value chosen or typed; columns set to "not given" are left out."""
    if not columns:
        return {}
    chosen = {}
    with st.container(horizontal=True):
        for name, values in columns.items():
            value = example.extra.get(name)
            if values is None:
                field = f"{key}-{_column(name)}"
                st.session_state.setdefault(field, value or "")
                chosen[name] = st.text_input(literal(name), key=field, width=WIDE, max_chars=2_000)
                continue
            options = [*values, _("not given")]
            start = values.index(value) if value in values else len(values)
            place = pick(f"{key}-{_column(name)}", literal(name), options, start, width=WIDE)
            if place < len(values):
                chosen[name] = values[place]
    return chosen


def headline(task: Any, answer: Mapping) -> tuple[str, float | None]:
    """The prediction in a few words (plain text), and its probability or score.

    For several labels: the probability of the likeliest; for tags: that of the least certain tag. If there is no
    prediction (see `minibert.finetune.evaluation.predict_watched`): the error message, and None.
    """
    if "error" in answer:
        return translated(answer["error"]), None
    return VIEWS[task.name].headline(answer)


def show_answer(task: Any, inputs: Any, answer: Mapping, key: str) -> None:
    """Draw a Predictor's prediction for the input `inputs`: in words, then in the text or as a figure."""
    if "error" in answer:
        st.warning(literal(translated(answer["error"])), icon=":material/error:")
        return
    VIEWS[task.name].show_answer(inputs, answer, key)
    if beside := answer.get("metadata"):
        unseen = _("nothing that training has seen")
        listed = _(", ").join(f"{literal(name)} = {literal(value or unseen)}" for name, value in beside.items())
        st.caption(_("Read beside the text: {listed}.").format(listed=listed))


def show_review(task: Any, examples: Sequence[Mapping], evaluation: Mapping, key: str) -> None:
    """Draw the results on the dev set. examples: `dev_examples` of a run's Started details · evaluation: the
    details of its last Eval (see `minibert.finetune.evaluation.evaluate`), with a prediction for each example."""
    pairs = list(zip(examples, evaluation["predictions"], strict=True))
    if not pairs:
        st.info(_("There is nothing that was measured."))
        return
    measured = evaluation.get("measured_on", len(pairs))
    if measured > len(pairs):
        st.caption(
            _("Measured on {all:,} examples; an even sample of {n:,} of them was kept, and is drawn here.").format(
                all=measured, n=len(pairs)
            )
        )
    title, items = VIEWS[task.name].review(pairs, evaluation, key)
    st.markdown("**" + title + "**")
    if len(items) > PAGE:
        names = {"few": _("the first {n}").format(n=PAGE), "all": _("all {n}").format(n=len(items))}
        shown = st.segmented_control(
            _("How many"),
            list(names),
            format_func=names.get,
            default="few",
            required=True,
            key=f"{key}-page",
            label_visibility="collapsed",
        )
        items = items[:PAGE] if shown == "few" else items
    if items:
        st.html(cases_html(items))
