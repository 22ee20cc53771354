"""The answer widgets of each kind of question. Answers are stored in `answers`."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import streamlit as st

from examination import compute
from examination.choose import ChooseTask
from examination.computations import Given
from examination.compute import ComputeTask
from examination.count import CountTask
from examination.input_rows import InputTask, cells_of
from examination.masks import MaskTask
from examination.open_question import OpenAnswer as OpenAnswer
from examination.open_question import OpenTask
from examination.order import OrderTask
from examination.task import ExamTask
from sections.examination.answers import answer_to, set_answer
from sections.examination.mask_grid import drawn, mask_grid
from sections.examination.run_widgets import keep, mistake_widgets, predict_widgets, radio
from ui.lesson import TEXT_WIDTH
from ui.text import literal, show_tokens
from ui.translations import _

LONGEST_ANSWER = 5_000  # characters of an open answer


def answer_with(task: ExamTask, seed: int, *, marked: bool, frozen: bool) -> None:
    """The widgets of the task. marked: its mark is shown · frozen: the answer can no longer change."""
    _WIDGETS[task.question.kind](task, seed, f"{seed}-{task.id}", marked, frozen)


def _choose(task: ChooseTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    texts = [choice.text for choice in task.choices]
    picked = radio(
        key,
        _("Your choice"),
        len(texts),
        texts.__getitem__,
        answer_to(seed, task),
        frozen,
        label_visibility="collapsed",
        width=TEXT_WIDTH,
    )
    set_answer(seed, task, picked)


def _compute(task: ComputeTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    for table in task.given:
        st.html(table_html(table))
    before = answer_to(seed, task) or [""] * len(task.fields)
    typed = []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for index, field in enumerate(task.fields):
            keep(f"{key}-{index}", before[index])
            typed.append(
                st.text_input(field.label, key=f"{key}-{index}", max_chars=40, disabled=frozen, width=220) or ""
            )
    st.caption(compute.accepted(task))
    set_answer(seed, task, typed if any(typed) else None)


def _count(task: CountTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    keep(key, answer_to(seed, task) or "")
    typed = st.text_input(_("Parameters"), key=key, max_chars=40, disabled=frozen, width=260)
    st.caption(_("Exactly; groups of three may be set apart. A calculator is allowed."))
    set_answer(seed, task, typed or None)


def table_html(table: Given) -> str:
    """A table of numbers as safe HTML."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in table.columns)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(f"<td>{html.escape(c)}</td>" for c in cells)}</tr>'
        for name, cells in zip(table.rows, table.cells, strict=True)
    )
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    return f'<table class="mb-given">{caption}<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _mask(task: MaskTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    def take() -> None:
        set_answer(seed, task, drawn(key) & task.cells)

    mask_grid(
        key,
        task.rows,
        task.columns,
        answer_to(seed, task) or frozenset(),
        right=task.right if marked else None,
        disabled=frozen,
        on_change=take,
    )


def _order(task: OrderTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    order = tuple(answer_to(seed, task) or task.start)
    with st.container(key=f"order-{key}", gap="xsmall"):
        for place, step in enumerate(order):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                for arrow, by, help_text in (("↑", -1, _("Move up")), ("↓", 1, _("Move down"))):
                    st.button(
                        arrow,
                        key=f"{key}-{step}-{by}",
                        help=help_text,
                        disabled=frozen or not 0 <= place + by < len(order),
                        on_click=_move,
                        args=(task, seed, step, by),
                    )
                st.markdown(f"{place + 1}. {task.steps[step]}", width="stretch")


def _move(task: OrderTask, seed: int, step: int, by: int) -> None:
    order = list(answer_to(seed, task) or task.start)
    place = order.index(step)
    other = place + by
    if 0 <= other < len(order):
        order[place], order[other] = order[other], order[place]
        set_answer(seed, task, tuple(order))


def _input(task: InputTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    before = answer_to(seed, task) or {}
    first = next(iter(task.titles))
    for name in task.titles:
        keep(f"{key}-{name}", before.get(name, ""))
    row = st.pills(
        _("Pieces: a click puts one behind what stands in the row that is chosen here"),
        list(task.titles),
        format_func=task.titles.__getitem__,
        default=first,
        required=True,
        key=f"{key}-row",
        disabled=frozen,
    )
    pieces = [*task.pieces, *(["–"] if "labels" in task.titles and "tokens" in task.titles else [])]
    with st.container(horizontal=True, gap="xsmall", key=f"pieces-{key}"):
        for number, piece in enumerate(["0", "1"] if row in ("segments", "mask") else pieces):
            name = f"{key}-piece-{number}"
            st.button(literal(piece), key=name, on_click=_append, args=(f"{key}-{row}", piece), disabled=frozen)
        back = _("Take the last one away")
        st.button("⌫", key=f"{key}-back", help=back, on_click=_cut, args=(f"{key}-{row}",), disabled=frozen)
    typed = {}
    for name, title in task.titles.items():
        typed[name] = st.text_input(title, key=f"{key}-{name}", max_chars=1_000, disabled=frozen) or ""
    _show_rows({name: cells_of(text) for name, text in typed.items()}, first)
    set_answer(seed, task, typed if any(typed.values()) else None)


def _show_rows(rows: dict[str, list[str]], first: str) -> None:
    """The rows built so far, one below the other."""
    if not rows[first]:
        return
    below = [name for name in rows if name != first]
    count = len(rows[first])
    columns = [[*rows[name][:count], *["·"] * (count - len(rows[name]))] for name in below]
    under = [" ".join(cells) for cells in zip(*columns, strict=True)] if columns else None
    show_tokens(rows[first], under=under, label=_("The input so far"))


def _append(key: str, piece: str) -> None:
    st.session_state[key] = f"{st.session_state.get(key, '').rstrip()} {piece}".strip()


def _cut(key: str) -> None:
    st.session_state[key] = " ".join(st.session_state.get(key, "").split()[:-1])


def _open(task: OpenTask, seed: int, key: str, marked: bool, frozen: bool) -> None:
    before = answer_to(seed, task) or OpenAnswer("")
    keep(key, before.text)
    text = st.text_area(_("Your answer"), key=key, height=150, max_chars=LONGEST_ANSWER, disabled=frozen) or ""
    ticks = before.ticks
    if marked:
        st.markdown(f"**{_('A model answer')}**\n\n{task.model}", width=TEXT_WIDTH)
    if marked and text.strip():
        st.markdown(f"**{_('Which of these does your answer say? Tick them: you mark yourself.')}**")
        ticked = []
        for index, point in enumerate(task.rubric):
            keep(f"{key}-tick-{index}", index in before.ticks)
            if st.checkbox(point, key=f"{key}-tick-{index}"):
                ticked.append(index)
        ticks = tuple(ticked)
    if text != before.text:
        set_answer(seed, task, OpenAnswer(text))
    elif ticks != before.ticks:
        set_answer(seed, task, OpenAnswer(text, ticks), after_check=True)


_WIDGETS: dict[str, Callable[[Any, int, str, bool, bool], None]] = {
    "choose": _choose,
    "compute": _compute,
    "count": _count,
    "mask": _mask,
    "order": _order,
    "input": _input,
    "mistake": mistake_widgets,
    "predict": predict_widgets,
    "open": _open,
}
