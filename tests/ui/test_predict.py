"""Predict before reveal: who guesses first, what the room sees, and what a teacher can hold."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages.driver import whole
from tests.ui.driver import opened
from ui import tally as tallies
from ui.predict import predict, tally
from ui.room.entrance import visitors
from ui.room.key import digest
from ui.room.store import Store
from ui.tally import GuessTally


def asked(owner: str, guess: int | None = None, about: str = "the dog", **link) -> AppTest:
    """The page of a reader who is asked, and may have guessed already; it returns whether it shows the answer."""

    def page():
        now = st.text_input("about", about, key="about")
        return predict("count", "How many tokens?", ["two", "*three*"], 1, about=now)

    app = opened(page, session={"_owner": owner}, **link)
    return app if guess is None else app.button(key=f"count-guess-{guess}").click().run()


def answer_shown(app: AppTest) -> bool:
    return whole(app).session_state["got"]


def said(app: AppTest) -> str:
    return "\n".join(block.value for block in app.markdown)


def test_the_answer_waits_for_a_guess():
    assert not answer_shown(asked("one"))
    for owner, guess in (("one", 0), ("two", 1)):
        app = asked(owner, guess)
        assert answer_shown(app) and "two" in said(app) and "**&#42;three&#42;**" in said(app)


def test_who_will_not_guess_sees_it_and_a_link_still_asks():
    assert answer_shown(asked("three").button(key="count-show").click().run())
    assert not answer_shown(asked("four", layer="2", projector="1"))


def test_a_guess_survives_a_reload_but_the_teacher_is_asked_again():
    asked("ten", 0)
    again = asked("ten", layer="2")
    assert answer_shown(again) and "two" in said(again)
    visitors().make_teacher("eleven", "here", digest())
    asked("eleven", 0)
    assert not answer_shown(asked("eleven"))


def test_with_something_else_nobody_is_asked_unless_they_want_to_be():
    app = asked("six", 0)
    assert answer_shown(app.text_input(key="about").set_value("the cat").run())
    assert not answer_shown(app.button(key="count-again").click().run())
    assert answer_shown(app.button(key="count-guess-1").click().run())


def test_the_room_is_counted_and_nobody_twice():
    *_others, last = (asked(owner, guess, "a room") for owner, guess in (("seven", 0), ("eight", 1), ("nine", 1)))
    assert "two 1 · **&#42;three&#42; 2**" in said(last)


def test_a_held_answer_comes_when_it_is_released():
    visitors().make_teacher("teacher", "here", digest())
    teacher = asked("teacher", projector="1")
    teacher.toggle[0].set_value(True).run()
    student = asked("student", 0)
    assert not answer_shown(student)
    teacher.toggle[0].set_value(False).run()
    assert answer_shown(student.run())
    tally().hold_all()
    assert not answer_shown(student.run())
    tally().release_all()
    assert answer_shown(student.run())


def test_only_the_teacher_holds_answers_and_only_theirs_is_the_projector_that_sees_them():
    assert not asked("somebody", projector="1").toggle
    tally().hold("count\nthe dog")
    curious = asked("curious", 0, projector="1")
    assert not answer_shown(curious)
    tally().release("count\nthe dog")
    assert answer_shown(curious.run())


@pytest.fixture
def room(tmp_path):
    return GuessTally(Store(tmp_path / "room.sqlite"))


def test_servers_that_share_a_store_count_together(tmp_path):
    one, other = (GuessTally(Store(tmp_path / "room.sqlite")) for _ in range(2))
    one.vote("q", "x", "0")
    other.vote("q", "y", "0")
    assert one.counts("q") == other.counts("q") == {"0": 2}
    one.hold("q")
    assert other.held("q")
    other.release_all()
    assert not one.held("q")


def test_on_a_full_disk_a_guess_counts_for_its_reader_alone(room):
    room.vote("q", "x", "0")
    room.store.ask(f"PRAGMA max_page_count = {room.store.ask('PRAGMA page_count')[0][0]}")  # as if there were no more
    long = "q" * 20_000
    room.vote(long, "y", "1")
    assert room.counts("q") == {"0": 1} and not room.counts(long)
    with pytest.raises(sqlite3.OperationalError, match="full"):
        room.hold(long)
    room.store.ask("PRAGMA max_page_count = 100000")  # there is room again, and no change was left half done
    room.vote(long, "y", "1")
    assert room.counts(long) == {"1": 1}


def test_a_store_that_cannot_be_read_holds_nobody_up(room):
    room.vote("q", "x", "0")
    room.store._connection.close()
    assert not room.counts("q") and not room.held("q") and not room.latest(3)


def test_a_hold_ends_by_itself(room, monkeypatch):
    now = [1.0]
    monkeypatch.setattr(tallies.time, "time", lambda: now[0])
    room.hold("q")
    assert room.held("q") and not room.held("another")
    now[0] = tallies.LONGEST_HOLD + 2
    assert not room.held("q")


def test_a_question_is_remembered_in_its_words_and_by_who_guessed(room):
    words = tallies.Wording("*How* many?", ["two", "three"], 1)
    room.vote("count\nthe dog", "x", "1", words)
    room.vote("count\n", "x", "0", words)
    room.vote("counter\nthe dog", "x", "0", words)
    room.vote("count\nthe cat", "y", "0", words)
    assert room.wording("count\nthe dog") == words and room.wording("another") is None
    assert room.guesses_of("x", "count") == {"the dog": "1", "": "0"}


def test_the_store_is_bounded_and_the_oldest_question_goes_first(room, monkeypatch):
    monkeypatch.setattr(tallies, "MOST_QUESTIONS", 3)
    monkeypatch.setattr(tallies, "MOST_VOTERS", 2)
    for question in "abcd":
        for voter in ("x", "y", "z"):
            room.vote(question, voter, "0")
    assert not room.counts("a")
    assert room.counts("d") == {"0": 2}
    room.vote("d", "x", "1")  # who has voted may change it in a full room
    assert room.counts("d") == {"0": 1, "1": 1}


def test_fifty_at_once_are_all_counted(room):
    with ThreadPoolExecutor(50) as voters:
        list(voters.map(lambda n: room.vote("q", str(n), str(n % 2)), range(50)))
    assert room.counts("q") == {"0": 25, "1": 25}
