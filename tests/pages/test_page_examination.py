"""The examination's page: sheets by link, every kind answered and marked, practice, hostile text, a broken bank."""

from functools import partial
from urllib.parse import parse_qsl

from streamlit.testing.v1 import AppTest

from examination.bank import load_bank
from examination.entry import BankError
from examination.kinds import KINDS
from examination.predict import SIDES
from examination.sheet import SheetSettings, draw_sheet
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, html_of, link, text_of, whole
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
            app.radio(key=f"{key}-guess").set_value(SIDES.index(answer.predicted))
            whole(app.run())
            app.button(key=f"{key}-run").click()
            whole(app.run())
            app.radio(key=key).set_value(answer.explanation)
        case "open":
            app.text_area(key=key).set_value(answer.text)
        case "order":
            order = list(task.start)
            for place, step in enumerate(answer):
                while order.index(step) > place:
                    at = order.index(step)
                    order[at - 1 : at + 1] = order[at], order[at - 1]
                    app.button(key=f"{key}-{step}--1").click()
                    whole(app.run())
        case "mask":
            app.session_state["_examination"]["answers"][f"{seed}/{task.id}"] = answer
    whole(app.run())


def test_a_link_brings_its_sheet():
    app = open_page(seed=7, parts="bert-attention", count=3, open="false")
    text = text_of(app)
    with_open = tasks_of(7, 3, ("attention", "bert"))
    assert all((task.text in text) == (task.question.kind != "open") for task in with_open)
    assert "## 1 " in text and "## 3 " in text and "## 2 " not in text and "1.4" not in text and not app.error


def link_of_sheet(app) -> str:
    (button,) = app.get("link_button")
    return button.proto.url


def test_whoever_comes_without_a_number_draws_one():
    app = open_page()
    drawn = app.number_input(key="sheet").value
    assert 1 <= drawn <= 9_999
    assert "seed" not in app.query_params  # no address of its own: one step back leaves the page
    assert link_of_sheet(app) == f"?seed={drawn}"
    app.button(key="another").click()
    whole(app.run())
    assert app.number_input(key="sheet").value == int(link(app, "seed"))


def test_the_link_says_all_that_was_set():
    app = open_page(parts="bert")
    number = app.number_input(key="sheet").value
    assert "seed" not in app.query_params and link(app, "parts") == "bert"
    app.slider(key="count").set_value(3)
    app.toggle(key="open").set_value(False)
    whole(app.run())
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


def test_bad_links_fall_back():
    for seed in ("x", "-3"):
        app = open_page(seed=seed, parts="nothing-<b>", count=99, mode="?")
        assert not app.error and "## 1 " in text_of(app)


def seed_with(kinds: set[str]) -> int:
    """A sheet that has these kinds."""
    return next(seed for seed in range(1, 500) if kinds <= {task.question.kind for task in tasks_of(seed)})


def test_every_kind_is_answered_and_earns_its_points():
    seed = seed_with(set(KINDS))  # as many as possible stand on each sheet
    tasks = tasks_of(seed)
    app = open_page(seed=seed)
    for task in tasks:
        give(app, seed, task, task.right)
    app.button(key="hand-in").click()
    whole(app.run())
    possible = sum(task.question.points for task in tasks if task.question.kind != "open")
    assert app.metric[0].value == f"{possible} / {possible}"
    assert not app.error
    table = app.table[0].value
    rubrics = sum(len(task.rubric) for task in tasks if task.question.kind == "open")
    assert table.iloc[-1].tolist()[1:] == [f"{possible} of {possible}", f"0 of {rubrics}"]
    own = next(task for task in tasks if task.question.kind == "open")
    app.checkbox(key=f"{seed}-{own.id}-tick-0").check()
    whole(app.run())
    assert app.table[0].value.iloc[-1].tolist()[2].startswith("1 of ")
    assert app.metric[0].value == f"{possible} / {possible}"
    app.button(key="again").click()
    whole(app.run())
    assert not app.table


def test_nothing_answered_earns_nothing_and_says_where_to_read_on():
    app = open_page(seed=7)
    app.button(key="hand-in").click()
    whole(app.run())
    assert app.metric[0].value.startswith("0 / ")
    assert len(app.error) == len([task for task in tasks_of(7) if task.question.kind != "open"])


def test_practice_checks_one_by_one_and_a_new_answer_is_unchecked():
    seed = seed_with({"choose"})
    task = next(task for task in tasks_of(seed) if task.question.kind == "choose")
    app = open_page(seed=seed, mode="practice")
    give(app, seed, task, task.wrong[0].answer)
    assert not app.error
    app.button(key=f"check-{seed}-{task.id}").click()
    whole(app.run())
    assert task.wrong[0].what in app.error[0].value and len(app.error) == 1
    give(app, seed, task, task.right)
    assert not app.error and not app.success
    app.button(key=f"check-{seed}-{task.id}").click()
    whole(app.run())
    assert len(app.success) == 1 and not app.error


def test_who_answers_and_checks_at_once_is_marked_for_that_answer():
    seed = seed_with({"choose"})
    task = next(task for task in tasks_of(seed) if task.question.kind == "choose")
    app = open_page(seed=seed, mode="practice")
    app.radio(key=f"{seed}-{task.id}").set_value(task.right)
    app.button(key=f"check-{seed}-{task.id}").click()  # both reach the server together
    whole(app.run())
    assert len(app.success) == 1 and not app.error
    give(app, seed, task, task.wrong[0].answer)
    assert not app.success and not app.error


def test_the_mistake_is_run_and_both_results_stand_side_by_side():
    seed = seed_with({"mistake"})
    task = next(task for task in tasks_of(seed) if task.question.kind == "mistake")
    app = open_page(seed=seed, mode="practice")
    app.button(key=f"check-{seed}-{task.id}").click()
    whole(app.run())
    shown = [block.value for block in app.code]
    assert task.lines[task.right - 1].strip() in shown and task.correct.strip() in shown
    assert sum(text.startswith(f"{task.shows[0]} =") for text in shown) == 2


def test_a_prediction_stands_once_the_model_has_run():
    seed = seed_with({"predict"})
    task = next(task for task in tasks_of(seed) if task.question.kind == "predict")
    key = f"{seed}-{task.id}"
    app = open_page(seed=seed)
    assert app.button(key=f"{key}-run").disabled
    app.radio(key=f"{key}-guess").set_value(SIDES.index(task.experiment.higher))
    whole(app.run())
    assert not app.metric
    app.button(key=f"{key}-run").click()
    whole(app.run())
    assert len(app.metric) == 2
    assert app.radio(key=f"{key}-guess").disabled


def test_any_text_is_text():
    seed, text = seed_with({"open", "input", "compute", "count"}), EVERYTHING
    app = open_page(seed=seed)
    for task in tasks_of(seed):
        if task.question.kind == "open":
            give(app, seed, task, task.right._replace(text=text))
        elif task.question.kind in ("input", "compute", "count"):
            some = dict.fromkeys(task.titles, text) if task.question.kind == "input" else text[:40]
            give(app, seed, task, [some] * len(task.fields) if task.question.kind == "compute" else some)
    assert_no_markup(app)
    app.button(key="hand-in").click()
    assert_no_markup(whole(app.run()))


def test_tables_are_shown_with_their_numbers():
    seed = next(s for s in range(1, 500) if any(t.id == "attention-score" for t in tasks_of(s)))
    task = next(task for task in tasks_of(seed) if task.id == "attention-score")
    shown = html_of(open_page(seed=seed))
    assert all(f"<td>{cell}</td>" in shown for given in task.given for row in given.cells for cell in row)


def test_a_bank_that_cannot_be_read_is_said(monkeypatch):
    def broken(**options):
        raise BankError("1-attention.toml, question <b>b</b>: needs `text`")

    monkeypatch.setattr("examination.bank.load_bank", broken)
    app = open_page()
    assert app.error and "## 1 " not in text_of(app)
    assert_no_markup(app)


def test_without_parts_there_is_a_hint():
    app = open_page(seed=1)
    app.pills(key="parts").set_value([])
    assert whole(app.run()).info and "## 1 " not in text_of(app)
