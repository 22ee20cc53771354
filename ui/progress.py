"""A visitor's progress: which pages they have opened, and how they answered the quizzes. Kept for the browser in the
room's store, so that a reload loses nothing; marked in the menu, and summed on the teacher's page."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

from ui.navigation import course
from ui.room.entrance import is_teacher
from ui.room.kept import Kept
from ui.room.store import room
from ui.translations import _, ngettext
from ui.visitor import owner

PREFIX = "progress "
_PROGRESS = "_progress"  # session_state key: name → value, as in the store


def kept() -> Kept:
    return Kept(room())


def _progress() -> dict:
    if _PROGRESS not in st.session_state:  # the teacher's quizzes are open again for each class
        st.session_state[_PROGRESS] = {} if is_teacher() else kept().of(owner(), PREFIX)
    return st.session_state[_PROGRESS]


def _note(name: str, value) -> None:
    """Written only where something has changed."""
    if _progress().get(name) != value:
        _progress()[name] = value
        kept().keep(owner(), PREFIX + name, value)


def note_opened(page: str) -> None:
    """page: one of the course, or any other, which is not counted."""
    if any(stop.name == page for stop in course()):
        _note(page, True)


def note_answer(lesson: str, number: int, picked: int, right: bool, questions: int) -> None:
    """picked: index of the option · questions: how many the quiz of the lesson has."""
    _note(f"{lesson}/{number}", [picked, right, questions])


def picked(lesson: str, number: int) -> int | None:
    """The option that was picked last, today or before."""
    return _progress().get(f"{lesson}/{number}", [None])[0]


@dataclass
class PageProgress:
    """Of one visitor. answers: quiz question → (option picked, whether it is right)."""

    opened: bool = False
    answers: dict[int, tuple[int, bool]] | None = None
    questions: int = 0  # in the quiz; 0 before the first answer

    @property
    def right(self) -> int:
        return sum(right for _picked, right in (self.answers or {}).values())

    @property
    def solved(self) -> bool:
        return 0 < self.questions <= self.right


def by_page(notes: Iterable[tuple[str, object]]) -> dict[str, PageProgress]:
    """Page → progress, from one visitor's (name, value)."""
    pages: dict[str, PageProgress] = defaultdict(PageProgress)
    for name, value in notes:
        page, _slash, number = name.partition("/")
        if number.isdecimal() and isinstance(value, list):
            one = pages[page]
            option, right, one.questions = value
            one.answers = {**(one.answers or {}), int(number): (option, right)}
        else:
            pages[page].opened = True
    return pages


@dataclass
class PageSum:
    """Of the class. picks: quiz question → option → how many."""

    opened: int
    answered: int  # who answered at least one question
    answers: int
    right: int
    solved: int
    picks: dict[int, Counter[int]]


def class_sums() -> dict[str, PageSum]:
    """Page → sums over everybody who was here in this class."""
    notes: dict[str, list] = defaultdict(list)
    for one, name, value in kept().of_class(PREFIX):
        notes[one].append((name, value))
    sums: dict[str, PageSum] = {}
    for own in notes.values():
        for page, progress in by_page(own).items():
            total = sums.setdefault(page, PageSum(0, 0, 0, 0, 0, defaultdict(Counter)))
            answers = progress.answers or {}
            total.opened += 1
            total.answered += bool(answers)
            total.answers += len(answers)
            total.right += progress.right
            total.solved += progress.solved
            for number, (option, _right) in answers.items():
                total.picks[number][option] += 1
    return sums


def mark_menu() -> None:
    """Beside each page of the menu that was opened: a dot, or how many questions of its quiz are right, or a tick."""
    if is_teacher():
        return
    rules = []
    for page, progress in by_page(_progress().items()).items():
        if progress.solved:
            mark, words = "✓", _("all questions right")
        elif progress.answers:
            mark = f"{progress.right}/{progress.questions}"
            words = ngettext("{n} question right", "{n} questions right", progress.right).format(n=progress.right)
        else:
            mark, words = "·", _("opened")
        address = "" if page == course()[0].name else page
        rules.append(f'.stSidebar a[href$="/{address}"]::after {{ content: "{mark}" / "{words}"; }}')
    if rules:
        st.html("<style>" + "\n".join(rules) + "</style>")
