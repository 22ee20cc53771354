"""A student's answers: in the session, and kept for the browser, so that a reload or the browser's Back loses none."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from examination.open_question import OpenAnswer
from examination.predict import PredictAnswer
from examination.sheet import SheetSettings
from examination.task import ExamTask
from ui.progress import kept
from ui.visitor import owner

PREFIX = "examination "
LAST, NAME = "last", "name"  # kept beside the answers: the sheet on screen, and the student's name
_KEY = "_examination"  # keys with an underscore survive a change of page (ui.navigation)


def _store() -> dict[str, Any]:
    if _KEY not in st.session_state:
        rooms: dict[str, Any] = {
            "answers": {},
            "checked": set(),
            "asked": set(),
            "run": set(),
            "handed": {},
            "given": {},
        }
        for place, value in kept().of(owner(), PREFIX).items():
            room, _space, name = place.partition(" ")
            if room in (LAST, NAME):
                rooms[room] = value
            elif room == "answers":
                rooms["answers"][name] = _decoded(value)
            elif room == "given":
                rooms["given"][name] = value
            elif room == "handed":
                rooms["handed"][name] = datetime.fromtimestamp(value)
            elif room in rooms:
                rooms[room].add(name)
        st.session_state[_KEY] = rooms
    return st.session_state[_KEY]


def _keep(room: str, name: str, value: Any) -> None:
    """value: as JSON says it; None forgets it."""
    kept().keep(owner(), f"{PREFIX}{room} {name}", value)


def _encoded(answer: Any) -> Any:
    """An answer as JSON says it; what JSON would confuse is in a dict that names it."""
    match answer:
        case OpenAnswer():
            return {"open": [answer.text, list(answer.ticks)]}
        case PredictAnswer():
            return {"predict": list(answer)}
        case set() | frozenset():
            return {"cells": sorted(answer)}
        case tuple():
            return {"order": list(answer)}
        case dict():
            return {"rows": answer}
    return answer


def _decoded(value: Any) -> Any:
    match value:
        case {"open": [text, ticks]}:
            return OpenAnswer(text, tuple(ticks))
        case {"predict": [predicted, explanation]}:
            return PredictAnswer(predicted, explanation)
        case {"cells": cells}:
            return frozenset((row, column) for row, column in cells)
        case {"order": order}:
            return tuple(order)
        case {"rows": rows}:
            return rows
    return value


def _name(seed: int, task: ExamTask) -> str:
    return f"{seed}/{task.id}"


def answer_to(seed: int, task: ExamTask) -> Any:
    return _store()["answers"].get(_name(seed, task))


def set_answer(seed: int, task: ExamTask, answer: Any, *, after_check: bool = False) -> None:
    """Store an answer. A changed answer becomes unchecked, except with `after_check` (ticks of a rubric) or if it
    arrives in the same run as the click on *Check*, which then applies to the typed text."""
    name = _name(seed, task)
    if _store()["answers"].get(name) == answer:
        return
    if not after_check and name not in _store()["asked"] and name in _store()["checked"]:
        _store()["checked"].discard(name)
        _keep("checked", name, None)
    _store()["answers"][name] = answer
    _keep("answers", name, _encoded(answer))


def check(seed: int, task: ExamTask) -> None:
    """Callback of *Check*: it applies to the answer that this run of the page delivers; see `answered`."""
    _store()["checked"].add(_name(seed, task))
    _store()["asked"].add(_name(seed, task))
    _keep("checked", _name(seed, task), True)


def answered(seed: int, task: ExamTask) -> None:
    """This run's answer is stored: from here on, a change unchecks it."""
    _store()["asked"].discard(_name(seed, task))


def is_checked(seed: int, task: ExamTask) -> bool:
    return _name(seed, task) in _store()["checked"]


def run_model(seed: int, task: ExamTask) -> None:
    """From here on the prediction cannot be changed."""
    _store()["run"].add(_name(seed, task))
    _keep("run", _name(seed, task), True)


def has_run(seed: int, task: ExamTask) -> bool:
    return _name(seed, task) in _store()["run"]


def hand_in(settings: SheetSettings) -> None:
    when = _store()["handed"][settings.key] = datetime.now()
    _keep("handed", settings.key, when.timestamp())


def take_back(settings: SheetSettings) -> None:
    _store()["handed"].pop(settings.key, None)
    _keep("handed", settings.key, None)


def handed_in(settings: SheetSettings) -> datetime | None:
    return _store()["handed"].get(settings.key)


def given(settings: SheetSettings) -> list | None:
    """The state of the sheet that the teacher was given."""
    return _store()["given"].get(settings.key)


def note_given(settings: SheetSettings, state: list) -> None:
    _store()["given"][settings.key] = state
    _keep("given", settings.key, state)


def keep_last(settings: SheetSettings, mode: str | None) -> None:
    """The sheet on screen, for the next visit."""
    value = [settings.seed, list(settings.parts), settings.count, settings.open, mode]
    if _store().get(LAST) != value:
        _store()[LAST] = value
        _keep(LAST, "", value)


def kept_last(parts: tuple[str, ...]) -> tuple[SheetSettings | None, str | None]:
    """Sheet and mode of the last visit, as far as these parts of the bank still exist."""
    match _store().get(LAST):
        case [int(seed), list(chosen), int(count), bool(with_open), mode]:
            found = tuple(name for name in parts if name in chosen)
            return (SheetSettings(seed, found, count, with_open), mode) if found else (None, None)
    return None, None


def keep_name(name: str) -> None:
    if _store().get(NAME, "") != name:
        _store()[NAME] = name
        _keep(NAME, "", name)


def kept_name() -> str:
    return _store().get(NAME, "")
