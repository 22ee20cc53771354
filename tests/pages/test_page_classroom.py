"""Class: nothing without the key, and with it the room, its runs, the door and the answers."""

import csv
import io
import zipfile

import pytest
from streamlit.testing.v1 import AppTest

from jobs.run import Run
from sections.classroom.address import address_of_room, qr_html
from sections.classroom.sheets import all_in_one
from tests.pages.driver import ROOT, html_of, open_page, part, plain, text_of, whole
from tests.pages.finished_runs import ended
from tests.waiting import until
from ui.predict import tally
from ui.progress import PREFIX, class_sums, kept
from ui.room import entrance
from ui.room.key import digest, key
from ui.room.sheets import Sheets
from ui.room.store import Store
from ui.room.visitors import Visitors
from ui.runs import manager
from ui.tally import Wording

FAKE = "tests.jobs.fake_training"


@pytest.fixture
def room(runs_folder):
    """With somebody in it."""
    visitors = entrance.visitors()
    for table in ("visitors", "settings", "tries", "questions", "votes", "wordings", "kept", "sheets"):
        visitors.store.ask(f"DELETE FROM {table}")
    visitors.seen([("a" * 32, "192.0.2.1", "attention"), ("b" * 32, "192.0.2.1", "home")])
    return visitors


def opened(owner: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "course.py"), default_timeout=240)
    app.session_state["_owner"] = owner
    whole(app.run())
    return whole(app.switch_page("pages/classroom.py").run())


def teacher(room) -> AppTest:
    room.make_teacher("t" * 32, "here", digest())
    return opened("t" * 32)


def try_key(app: AppTest, given: str) -> AppTest:
    app.text_input(key="teacher-key").set_value(given)
    return whole(next(button for button in app.button if button.label == "Open").click().run())


def test_without_the_key_the_page_tells_nothing(room):
    run = Run(manager(), manager().directory, "a" * 32, "a title of theirs", "finetune", f"{FAKE}:count")
    ended(run, [], {})
    app = opened("b" * 32)
    for kind in (app.metric, app.dataframe, app.get("progress"), app.toggle, app.selectbox):
        assert not [one for one in kind if one.proto.id.split("-", 2)[-1] != "projector-switch"]
    shown = repr(app.main)
    for secret in ("192.0.2.1", "aaaa", "a title of theirs", key(), "door", "Stop"):
        assert secret not in shown
    assert app.text_input(key="teacher-key")
    assert "classroom" not in [stop.name for stops in app.session_state["_course"].values() for stop in stops]


def test_only_the_key_opens_it_and_tries_are_limited(room):
    app = opened("e" * 32)
    for _ in range(5):
        assert try_key(app, "aaaa-aaaa-aaaa-aaaa").error and not app.metric
    assert try_key(app, key()).error and not app.metric  # the right one, too late
    other = opened("f" * 32)
    try_key(other, f" {key().upper()} ")
    assert other.metric and not other.error
    assert not opened("e" * 32).metric and opened("f" * 32).metric  # this browser, in all its windows
    whole(other.button(key="leave").click().run())
    assert not other.metric and not opened("f" * 32).metric


def test_it_shows_who_is_there_without_names_and_its_door_closes_and_opens(room, monkeypatch):
    monkeypatch.setattr("ui.disk.LITTLE", 1 << 60)
    app = teacher(room)
    assert app.warning  # of a disk that is nearly full
    rows = app.dataframe[0].value
    assert list(rows["who"])[:2] == ["aaaa", "bbbb"] and list(rows["looks at"])[:2] == ["Attention", "Home"]
    assert "a" * 32 not in repr(app.main) and app.metric[0].value in ("2", "3")
    whole(app.button(key="door-close").click().run())
    code = room.code
    assert code and any(code in block.proto.body for block in app.get("html"))
    assert room.may_enter("a" * 32) and not room.may_enter("n" * 32)
    whole(app.button(key="door-again").click().run())
    assert room.code not in (None, code)
    whole(app.button(key="door-open").click().run())
    assert room.code is None


def test_one_visitor_is_shut_out_and_their_runs_are_stopped(room):
    run = manager().submit(f"{FAKE}:until_cancelled", owner="a" * 32, title="theirs")
    other = manager().submit(f"{FAKE}:until_cancelled", owner="b" * 32, title="another's")
    app = teacher(room)
    whole(app.selectbox(key="who").set_value("a" * 32).run())
    whole(app.button(key="shut-out").click().run())
    assert run.wait(300) and run.state == "cancelled" and not other.over
    assert not room.may_enter("a" * 32) and room.may_enter("b" * 32)
    other.cancel()
    assert other.wait(300)


def test_runs_are_stopped_and_cleared(room):
    runs = [manager().submit(f"{FAKE}:until_cancelled", owner=f"{i}" * 32, title=f"*run* {i}") for i in range(6)]
    app = part(teacher(room), "Runs")
    said = [plain(bar.proto.text) for bar in app.get("progress")]
    assert len(said) == 6 and any("*run* 0" in one for one in said)
    assert int(app.metric[2].value) + int(app.metric[3].value) == 6
    whole(app.button(key="stop-waiting").click().run())
    waited = [run for run in runs if run.position is None and run.over]
    assert len(waited) >= 2 and {run.state for run in waited} == {"cancelled"}
    whole(app.button(key="stop-all").click().run())
    for run in runs:
        assert run.wait(300) and run.state == "cancelled"
    until(lambda: not manager()._active)
    whole(app.button(key="clear-ended").click().run())
    assert not manager().runs() and not any(run.directory.exists() for run in runs)


def test_answers_are_drawn_held_and_released(room):
    wording = Wording("Which *part*?", ["<b>one</b>", "two"], 1)
    for voter, guess in (("x", "0"), ("y", "1"), ("z", "1")):
        tally().vote("parts\n<b>the dog</b>", voter, guess, wording)
    app = part(teacher(room), "Answers")
    assert "Which *part*?" in text_of(app)
    bars = app.get("progress")
    assert [bar.proto.value for bar in bars] == [33, 66]
    assert "<b>" not in repr([bar.proto.text for bar in bars]) and "✓" in bars[1].proto.text
    one = next(toggle for toggle in app.toggle if toggle.key.startswith("hold-0"))
    whole(one.set_value(True).run())
    assert not any("✓" in bar.proto.text for bar in app.get("progress"))  # a projected page does not betray it
    assert tally().held("parts\n<b>the dog</b>") and not tally().held("another")
    whole(app.toggle(key="hold-all").set_value(True).run())
    assert tally().held("another")
    whole(app.toggle(key="hold-all").set_value(False).run())
    assert not tally().held("another") and not tally().held("parts\n<b>the dog</b>")


def test_other_servers_of_the_class_know_the_teacher_and_the_code(room):
    """What the class agrees on lies in the store, not in a process."""
    teacher(room)
    there = Visitors(Store(room.store.path))
    assert there.is_teacher("t" * 32, digest()) and there.close_door() == room.code


def test_the_progress_of_the_class_is_summed_without_the_teacher(room):
    room.make_teacher("t" * 32, "here", digest())
    for who, number, picked, right in (("a", 0, 1, True), ("a", 1, 2, True), ("b", 0, 0, False), ("t", 0, 0, False)):
        kept().keep(who * 32, f"{PREFIX}attention", True)
        kept().keep(who * 32, f"{PREFIX}attention/{number}", [picked, right, 2])
    total = class_sums()["attention"]
    assert (total.opened, total.answered, total.answers, total.right, total.solved) == (2, 2, 3, 2, 1)
    assert total.picks == {0: {1: 1, 0: 1}, 1: {2: 1}}
    app = part(opened("t" * 32), "Progress")
    assert app.dataframe[0].value.iloc[0].tolist() == ["Attention", 2, 2, "67%", 1]
    assert app.get("progress")


def front(owner: str) -> AppTest:
    """The course, on its first page."""
    app = AppTest.from_file(str(ROOT / "course.py"), default_timeout=240)
    app.session_state["_owner"] = owner
    return whole(app.run())


def test_a_student_finds_their_quiz_answered_again_and_marked_in_the_menu(room):
    app = open_page("parameters", owner="c" * 32)
    whole(app.radio(key="quiz-parameters-0").set_value(1).run())
    assert open_page("parameters", owner="c" * 32).radio(key="quiz-parameters-0").value == 1
    assert open_page("parameters", owner="d" * 32).radio(key="quiz-parameters-0").value is None
    assert '/parameters"]' in html_of(front("c" * 32)) and '/parameters"]' not in html_of(front("d" * 32))


def test_the_address_is_one_that_others_can_open():
    assert address_of_room("http://localhost:8501/classroom", "192.0.2.7") == "http://192.0.2.7:8501"
    assert address_of_room("https://class.example/classroom?x=1", None) == "https://class.example"
    assert address_of_room("http://127.0.0.1:8501/", None) is None
    assert 'alt="http://192.0.2.7:8501"' in qr_html("http://192.0.2.7:8501")


def test_sheets_are_collected_once_each_and_their_text_is_no_formula(room, tmp_path):
    one, other = (Sheets(Store(tmp_path / "room.sqlite")) for _ in range(2))  # two servers
    for when, name in ((1.0, "Ada"), (1.0, "=Ada/.."), (2.0, "=Ada/..")):
        one.hand_in("a" * 32, "7 all", name=name, when=when, marks=[3.5, 6, 1, 2], page="<p>é</p>")
    other.hand_in("b" * 32, "7 all", name="Bo", when=3.0, marks=[6, 6, 0, 2], page="<p></p>")
    sheets = one.all()
    assert [(sheet.times, sheet.name) for sheet in sheets] == [(2, "=Ada/.."), (1, "Bo")]
    with zipfile.ZipFile(io.BytesIO(all_in_one(sheets))) as archive:
        table, first, _second = archive.namelist()
        assert "/" not in first and archive.read(first).decode() == "<p>é</p>"
        rows = list(csv.reader(archive.read(table).decode("utf-8-sig").splitlines()))
    assert rows[1][0] == "'=Ada/.." and rows[1][-4:] == ["3.5", "6", "1", "2"]
    other.clear()
    assert not one.all()
