"""A student's answers, kept in the session: they survive visits to other pages and changes of the sheet."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from examination.sheet import SheetSettings
from examination.task import ExamTask

_KEY = "_examination"  # keys with an underscore survive a change of page (ui.navigation)


def _store() -> dict[str, Any]:
    return st.session_state.setdefault(
        _KEY, {"answers": {}, "checked": set(), "asked": set(), "run": set(), "handed": {}}
    )


def _name(seed: int, task: ExamTask) -> str:
    return f"{seed}/{task.id}"


def answer_to(seed: int, task: ExamTask) -> Any:
    return _store()["answers"].get(_name(seed, task))


def set_answer(seed: int, task: ExamTask, answer: Any, *, after_check: bool = False) -> None:
    """Store an answer. A changed answer becomes unchecked, except with `after_check` (ticks of a rubric) or if it
    arrives in the same run as the click on *Check*, which then applies to the typed text."""
    name = _name(seed, task)
    if _store()["answers"].get(name) != answer and not after_check and name not in _store()["asked"]:
        _store()["checked"].discard(name)
    _store()["answers"][name] = answer


def check(seed: int, task: ExamTask) -> None:
    """Callback of *Check*: it applies to the answer that this run of the page delivers; see `answered`."""
    _store()["checked"].add(_name(seed, task))
    _store()["asked"].add(_name(seed, task))


def answered(seed: int, task: ExamTask) -> None:
    """This run's answer is stored: from here on, a change unchecks it."""
    _store()["asked"].discard(_name(seed, task))


def is_checked(seed: int, task: ExamTask) -> bool:
    return _name(seed, task) in _store()["checked"]


def run_model(seed: int, task: ExamTask) -> None:
    """From here on the prediction cannot be changed."""
    _store()["run"].add(_name(seed, task))


def has_run(seed: int, task: ExamTask) -> bool:
    return _name(seed, task) in _store()["run"]


def hand_in(settings: SheetSettings) -> None:
    _store()["handed"][settings.key] = datetime.now()


def take_back(settings: SheetSettings) -> None:
    _store()["handed"].pop(settings.key, None)


def handed_in(settings: SheetSettings) -> datetime | None:
    return _store()["handed"].get(settings.key)
