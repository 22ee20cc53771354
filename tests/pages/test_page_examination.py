"""The examination's page: sheets by link, every kind answered and marked, practice, hostile text, a broken bank."""

from functools import partial
from urllib.parse import parse_qsl

from streamlit.testing.v1 import AppTest

from examination.bank import load_bank
from examination.entry import BankError
from examination.kinds import KINDS
from examination.predict import SIDES
from examination.sheet import SheetSettings, draw_sheet
from sections.examination.answers import PREFIX
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, html_of, link, text_of, whole
from ui.progress import kept
from ui.room.sheets import Sheets
from ui.room.store import room
from ui.state import VISIT

BANK = load_bank()
ALL = tuple(part.name for part in BANK)
open_page = partial(driver.open_page, "examination")


def tasks_of(seed: int, count: int = 2, parts: tuple[str, ...] = ALL):
    return [task for section in draw_sheet(BANK, SheetSettings(seed, parts, count)) for task in section.tasks]


def give(app, seed: int, task, answer) -> None:
    """Answer with the widgets of the page; of a mask, as the grid's callback does."""
    key = f"{seed}-{task.id}"
    match task.question.kind:
        case "choose":
            app.radio(key=key).set_value(answer)
        case "compute":
            for index, text in enumerate(answer):
                app.text_input(key=f"{key}-{index}").set_value(text)
        case "count":
            app.text_input(key=key).set_value(answer)
        case "input":
            for name, text in answer.items():
                app.text_input(key=f"{key}-{name}").set_value(text)
        case "mistake":
            app.radio(key=key).set_value(task.candidates().index(answer))
        case "predict":
            whole(app.radio(key=f"{key}-guess").set_value(SIDES.index(answer.predicted)).run())
            whole(app.button(key=f"{key}-run").click().run())
            app.radio(key=key).set_value(answer.explanation)
        case "open":
            app.text_area(key=key).set_value(answer.text)
        case "order":
            order = list(task.start)
            for place, step in enumerate(answer):
                for _ in range(order.index(step) - place):
                    whole(app.button(key=f"{key}-{step}--1").click().run())
                order.remove(step)
                order.insert(place, step)
        case "mask":
            app.session_state["_examination"]["answers"][f"{seed}/{task.id}"] = answer
            kept().keep(app.session_state["_owner"], f"{PREFIX}answers {seed}/{task.id}", {"cells": sorted(answer)})
    whole(app.run())


def test_a_link_brings_its_sheet_and_a_bad_one_another():
    app = open_page(seed=7, parts="bert-attention", count=3, open="false")
    text = text_of(app)
    with_open = tasks_of(7, 3, ("attention", "bert"))
    assert all((task.text in text) == (task.question.kind != "open") for task in with_open)
    assert "## 1 " in text and "## 3 " in text and "## 2 " not in text and "1.4" not in text and not app.error
    for seed in ("x", "-3"):
        app = open_page(seed=seed, parts="nothing-<b>", count=99, mode="?")
        assert not app.error and "## 1 " in text_of(app)


def link_of_sheet(app) -> str:
    (button,) = app.get("link_button")
    return button.proto.url


def test_whoever_comes_without_a_number_draws_one():
    app = open_page()
    drawn = app.number_input(key="sheet").value
    assert 1 <= drawn <= 9_999
    assert "seed" not in app.query_params  # no address of its own: one step back leaves the page
    assert link_of_sheet(app) == f"?seed={drawn}"
    whole(app.button(key="another").click().run())
    assert app.number_input(key="sheet").value == int(link(app, "seed"))
    assert whole(app.pills(key="parts").set_value([]).run()).info and "## 1 " not in text_of(app)


def test_the_link_says_all_that_was_set():
    app = open_page(parts="bert")
    number = app.number_input(key="sheet").value
    assert "seed" not in app.query_params and link(app, "parts") == "bert"
    app.slider(key="count").set_value(3)
    whole(app.toggle(key="open").set_value(False).run())
    said = {name: link(app, name) for name in ("seed", "parts", "count", "open")}
    assert said == {"seed": str(number), "parts": "bert", "count": "3", "open": "false"}
    assert dict(parse_qsl(link_of_sheet(app)[1:])) == said
    again = open_page(**said)
    assert again.number_input(key="sheet").value == number and text_of(again) == text_of(app)


def test_who_comes_back_finds_the_sheet_again():
    before = open_page(seed=7, count=3)
    app = AppTest.from_file(before._script_path, default_timeout=240)
    app.session_state["_examination_sheet"] = before.session_state["_examination_sheet"]  # a change of page keeps it …
    app.session_state[VISIT] = 1
    whole(app.run())  # … and clears the link
    assert app.number_input(key="sheet").value == 7 and app.slider(key="count").value == 3
    assert "seed" not in app.query_params


def sheet_with(*kinds: str):
    """A sheet that has these kinds: its number, and a task of the first."""
    for seed in range(1, 500):
        tasks = {task.question.kind: task for task in tasks_of(seed)}
        if set(kinds) <= set(tasks):
            return seed, tasks[kinds[0]]
    raise LookupError(kinds)


def test_every_kind_is_answered_and_earns_its_points():
    seed, own = sheet_with("open", *KINDS)  # as many as possible stand on each sheet
    tasks, whose = tasks_of(seed), "e" * 32
    app = open_page(owner=whose, seed=seed)
    for task in tasks:
        give(app, seed, task, task.right)
    whole(app.button(key="hand-in").click().run())
    possible = sum(task.question.points for task in tasks if task.question.kind != "open")
    assert app.metric[0].value == f"{possible} / {possible}"
    (given,) = [sheet for sheet in Sheets(room()).all() if sheet.owner == whose]  # what the teacher collects
    assert given.marks[:2] == (possible, possible) and given.times == 1 and "<html" in given.page
    again = open_page(owner=whose)  # a reload, without a link
    assert again.number_input(key="sheet").value == seed and again.metric[0].value == f"{possible} / {possible}"
    assert not app.error
    rubrics = sum(len(task.rubric) for task in tasks if task.question.kind == "open")
    assert app.table[0].value.iloc[-1].tolist()[1:] == [f"{possible} of {possible}", f"0 of {rubrics}"]
    whole(app.checkbox(key=f"{seed}-{own.id}-tick-0").check().run())
    assert app.table[0].value.iloc[-1].tolist()[2].startswith("1 of ")
    assert app.metric[0].value == f"{possible} / {possible}"
    whole(app.button(key="again").click().run())
    assert not app.table


def test_nothing_answered_earns_nothing_and_says_where_to_read_on():
    app = open_page(seed=7)
    whole(app.button(key="hand-in").click().run())
    assert app.metric[0].value.startswith("0 / ")
    assert len(app.error) == len([task for task in tasks_of(7) if task.question.kind != "open"])


def test_practice_checks_one_by_one_and_a_new_answer_is_unchecked():
    seed, task = sheet_with("choose")
    app = open_page(seed=seed, mode="practice")
    give(app, seed, task, task.wrong[0].answer)
    assert not app.error
    whole(app.button(key=f"check-{seed}-{task.id}").click().run())
    assert task.wrong[0].what in app.error[0].value and len(app.error) == 1
    app.radio(key=f"{seed}-{task.id}").set_value(task.right)
    whole(app.button(key=f"check-{seed}-{task.id}").click().run())  # both reach the server together
    assert len(app.success) == 1 and not app.error
    give(app, seed, task, task.wrong[0].answer)
    assert not app.success and not app.error


def test_the_mistake_is_run_and_both_results_stand_side_by_side():
    seed, task = sheet_with("mistake")
    app = open_page(seed=seed, mode="practice")
    whole(app.button(key=f"check-{seed}-{task.id}").click().run())
    shown = [block.value for block in app.code]
    assert task.lines[task.right - 1].strip() in shown and task.correct.strip() in shown
    assert sum(text.startswith(f"{task.shows[0]} =") for text in shown) == 2


def test_a_prediction_stands_once_the_model_has_run():
    seed, task = sheet_with("predict")
    key = f"{seed}-{task.id}"
    app = open_page(seed=seed)
    assert app.button(key=f"{key}-run").disabled
    whole(app.radio(key=f"{key}-guess").set_value(SIDES.index(task.experiment.higher)).run())
    assert not app.metric
    whole(app.button(key=f"{key}-run").click().run())
    assert len(app.metric) == 2 and app.radio(key=f"{key}-guess").disabled


def test_any_text_is_text():
    (seed, _task), text = sheet_with("open", "input", "compute", "count"), EVERYTHING
    app = open_page(seed=seed)
    for task in tasks_of(seed):
        if task.question.kind == "open":
            give(app, seed, task, task.right._replace(text=text))
        elif task.question.kind in ("input", "compute", "count"):
            some = dict.fromkeys(task.titles, text) if task.question.kind == "input" else text[:40]
            give(app, seed, task, [some] * len(task.fields) if task.question.kind == "compute" else some)
    assert_no_markup(app)
    assert_no_markup(whole(app.button(key="hand-in").click().run()))


def test_tables_are_shown_with_their_numbers():
    seed, task = next((s, task) for s in range(1, 500) for task in tasks_of(s) if task.id == "attention-score")
    shown = html_of(open_page(seed=seed))
    assert all(f"<td>{cell}</td>" in shown for given in task.given for row in given.cells for cell in row)


def test_a_bank_that_cannot_be_read_is_said(monkeypatch):
    def broken(**options):
        raise BankError("1-attention.toml, question <b>b</b>: needs `text`")

    monkeypatch.setattr("examination.bank.load_bank", broken)
    app = open_page()
    assert app.error and "## 1 " not in text_of(app)
    assert_no_markup(app)
