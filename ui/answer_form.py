"""The fields for an input of one's own, for every task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from ui.cases import LETTERS
from ui.inputs import pick, sentence_input, state
from ui.marked import placed
from ui.state import follow_link, set_url, url_int
from ui.text import literal
from ui.translations import _

LONG = 20_000  # characters of a passage
SHORT = 2_000
FEWEST, MOST = 2, len(LETTERS)  # choices
WIDE = 240  # pixels of a select box
FIELDS = ("text", "pair", "context", "question", "count", *(f"choice{n}" for n in range(1, MOST + 1)))


def answer_form(
    task: Any, example: Any, key: str, columns: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any] | str | None:
    """Fields for an input of the task, filled from `example`; another example fills them anew. columns: those that are
    read beside the text, with the values of each.

    Returns what `Predictor.predict` takes; None, with a hint, while something is missing. Short texts are in the link.
    """
    columns = columns or {}
    before = st.session_state.get(f"_{key}-example")
    if before is not None and before != example:
        for name in (f"{key}-{field}" for field in (*FIELDS, *map(_column, columns))):
            for kept in (name, state(name)):
                st.session_state.pop(kept, None)
            st.query_params.pop(name, None)
    st.session_state[f"_{key}-example"] = example
    given = _FORMS[task.name](example, key)
    beside = _values_beside(example, key, columns)
    if given is None or not beside:
        return given
    return {**(given if isinstance(given, dict) else {"text": given}), **beside}


def _column(name: str) -> str:
    return f"column-{name}"


def _values_beside(example: Any, key: str, columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """A value of each column, where one is chosen."""
    if not columns:
        return {}
    chosen = {}
    with st.container(horizontal=True):
        for name, values in columns.items():
            value = example.extra.get(name)
            options = [*values, _("not given")]
            start = values.index(value) if value in values else len(values)
            place = pick(f"{key}-{_column(name)}", literal(name), options, start, width=WIDE)
            if place < len(values):
                chosen[name] = values[place]
    return chosen


def _text(key: str, label: str, text: str, *, multiline: bool = True, most: int = SHORT) -> str:
    return sentence_input(key, [], label=label, default=text, multiline=multiline, max_chars=most, placeholder=" ")


def _hint(words: str) -> None:
    st.caption(words)


def _one(example: Any, key: str) -> str | None:
    text = example.text if example.text is not None else placed({"words": example.words})[0]
    given = _text(f"{key}-text", _("Your text"), text, multiline=len(text) > 80)
    if not given.strip():
        _hint(_("Write a text, and the model answers."))
        return None
    return given


def _two(example: Any, key: str) -> dict | None:
    text = _text(f"{key}-text", _("First text (A)"), example.text, multiline=False)
    pair = _text(f"{key}-pair", _("Second text (B)"), example.pair, multiline=False)
    if not (text.strip() and pair.strip()):
        _hint(_("Write both texts, and the model answers."))
        return None
    return {"text": text, "pair": pair}


def _passage(example: Any, key: str) -> dict | None:
    context = _text(f"{key}-context", _("Passage"), example.context, most=LONG)
    question = _text(f"{key}-question", _("Question"), example.question, multiline=False)
    if not (context.strip() and question.strip()):
        _hint(_("Write a passage and a question, and the model answers."))
        return None
    return {"question": question, "context": context}


def _choices(example: Any, key: str) -> dict | None:
    context = _text(f"{key}-context", _("Context"), example.context, most=LONG, multiline=len(example.context) > 80)
    question = _text(
        f"{key}-question", _("What each choice goes on from (may be empty)"), example.question, multiline=False
    )
    count = f"{key}-count"
    start = len(example.choices)
    if follow_link(count) or count not in st.session_state:
        st.session_state[count] = url_int(count, start, FEWEST, MOST)
    choices = []
    for number in range(st.session_state[count]):
        default = example.choices[number] if number < start else ""
        label = _("Choice {letter}").format(letter=LETTERS[number])
        choices.append(_text(f"{key}-choice{number + 1}", label, default, multiline=False))
    with st.container(horizontal=True):
        for words, icon, step, stop in (
            (_("Add a choice"), ":material/add:", 1, MOST),
            (_("Remove the last"), ":material/remove:", -1, FEWEST),
        ):
            st.button(
                words, icon=icon, key=f"{key}-step{step}", disabled=st.session_state[count] == stop,
                on_click=_change, args=(count, step),
            )  # fmt: skip
    set_url(count, st.session_state[count], default=start)
    if not context.strip() or not all(choice.strip() for choice in choices):
        _hint(_("Write a context and every choice, and the model answers."))
        return None
    return {"context": context, "question": question, "choices": choices}


def _change(count: str, step: int) -> None:
    st.session_state[count] = min(MOST, max(FEWEST, st.session_state[count] + step))


_FORMS: dict[str, Callable[[Any, str], Any]] = {
    "classification": _one,
    "pair": _two,
    "similarity": _two,
    "multilabel": _one,
    "tagging": _one,
    "span": _passage,
    "span-or-none": _passage,
    "choice": _choices,
    "intent": _one,
}
