"""From file to service: every step answers, requests are judged by the service's own code, and models can be taken."""

import json
from functools import partial

import pytest

from minibert.service.server import Limits
from tests.hostile import HOSTILE
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, plain, text_of, title_of, whole
from tests.waiting import until
from ui.lesson import Lesson, load_quiz

LESSON = Lesson("service")
ASK, MANY, OUT = "Ask the service", "Many clients", "Before it goes out"
open_page = partial(driver.open_page, "service")
STATUS = {"good": 200, "two": 200, "json": 400, "missing": 400, "type": 400, "blank": 422, "unknown": 400, "long": 422,
          "many": 413}  # fmt: skip


def status(app) -> int:
    said = next(box.value for box in [*app.success, *app.error] if "HTTP" in box.value)
    return int(said.split("HTTP ")[1][:3])


def test_each_ready_request_gets_its_number(runs_folder):
    app = open_page(part=ASK)
    for name, expected in STATUS.items():
        app.button_group(key="ready").set_value(name)
        assert status(whole(app.run())) == expected, name
    assert any("a request may have 64" in block.value for block in app.code)


def test_a_request_of_ones_own_is_answered_or_refused_where_it_is_wrong(runs_folder):
    app = open_page(part=ASK)
    app.text_area(key="request-classification").set_value(json.dumps({"inputs": ["fine", " "]}))
    app = whole(app.run())
    assert status(app) == 422
    assert any("input 2: is blank" in block.value for block in app.code)
    for text in HOSTILE.values():
        app.text_area(key="request-classification").set_value(json.dumps({"inputs": [text]}))
        assert_no_markup(whole(app.run()))


def test_the_file_step_names_lines_and_follows_the_text(runs_folder):
    app = open_page(step=1)
    assert list(app.dataframe[0].value["line"]) == [3, 4]
    assert "**3 examples**; negative: 1, positive: 2" in text_of(app)
    app.text_area(key="file").set_value("sentence\tlabel\ngood\tx\nbad\ty\n")
    assert "No line is wrong." in text_of(whole(app.run()))
    app.text_area(key="file").set_value("a\n<img src=x>\n")
    app = whole(app.run())
    assert_no_markup(app)
    assert app.error


def test_evaluate_and_predict_say_what_the_commands_say(runs_folder):
    app = open_page(step=3)
    said = next(block.value for block in app.code if block.value.startswith("lessons/data/reviews/test.tsv: accuracy"))
    assert " loss " in said
    app = open_page(step=4)
    answer = next(json.loads(block.value) for block in app.code if block.value.startswith('{"text"'))
    assert answer["label"] in ("negative", "positive")
    assert any(block.value.startswith(answer["label"]) for block in app.code)


def test_an_export_is_compared(runs_folder):
    app = open_page(step=5)
    app.button(key="export-huggingface").click()
    app = whole(app.run())
    assert "above 0.0001 nothing would have been written" in text_of(app)
    assert any("no logit differs from the model's by more than" in block.value for block in app.code)


def test_limits_are_the_services_own(runs_folder):
    app = open_page(part=OUT)
    table = next(table.value for table in app.table if "limit" in table.value)
    assert f"{Limits().inputs:,}" in list(table["now"]) and f"{Limits().body:,}" in list(table["now"])


@pytest.mark.slow
def test_clients_together_are_measured(runs_folder):
    app = open_page(part=MANY)
    app.button(key="measure").click()
    app = whole(app.run())
    assert [len(trace["y"]) for trace in figure(app, "load")["data"]] == [3, 3]
    assert "32 clients at once" in text_of(app)


@pytest.mark.slow
def test_a_model_trained_here_is_taken_along(runs_folder):
    from ui.runs import manager

    app = open_page(step=2)
    app.button(key="train").click()
    whole(app.run())
    run = manager().runs()[0]
    until(lambda: run.over and run.future is None)
    assert run.state == "finished", run.error
    whole(app.run())
    assert app.selectbox(key="model").value == run.id  # chosen as soon as it is there
    assert any(block.value.startswith("step 0: accuracy") for block in app.code)
    assert any("serve --model my-model" in block.value for block in app.code)
    table = next(table.value for table in app.table if "file" in table.value)
    assert {"config.json", "model.safetensors", "vocab.txt"} <= set(table["file"])
    assert "By chance" not in text_of(app)
    assert "**Out:** HTTP 200" in text_of(app) and plain(run.title).startswith("reviews")


def test_a_sentence_goes_in_and_an_answer_comes_out(runs_folder):
    app = open_page(text="A <b>b</b> film")
    assert "**Out:** HTTP 200" in text_of(app)
    assert json.loads(app.code[0].value) == {"inputs": [{"text": "A <b>b</b> film"}]}
    assert json.loads(app.code[1].value)["label"] in ("negative", "positive")
    assert "By chance" in text_of(app)  # nobody has trained its layer
    drawn = figure(app, "request")
    bars = drawn["data"]
    assert len(bars) == 5
    ends = [bar["base"][0] + bar["x"][0] for bar in bars]
    assert [bar["base"][0] for bar in bars] == pytest.approx([0.0, *ends[:-1]])
    longest = max(bars, key=lambda bar: bar["x"][0])
    said = f"{ends[-1]:.1f} ms; longest: {longest['y'][0]}, {longest['x'][0]:.1f} ms"
    assert title_of(app, "request") == said


def test_a_blank_sentence_is_refused_before_the_model(runs_folder):
    app = open_page(text=" ")
    assert "**Out:** HTTP 422" in text_of(app) and "is blank" in text_of(app)
    drawn = figure(app, "request")
    assert len(drawn["data"]) == 2
    assert title_of(app, "request").endswith("the model was not asked")


@pytest.mark.slow
def test_hostile_sentences_stay_text(runs_folder):
    app = open_page()
    for text in HOSTILE.values():
        app.text_input(key="text").set_value(text)
        app = whole(app.run())
        assert_no_markup(app)


def test_the_file_and_the_request_are_there_on_coming_back(runs_folder):
    app = open_page(step=1)
    app.text_area(key="file").set_value("sentence\tlabel\ngood\tx\nbad\ty\n")
    app = whole(app.run())
    for part in (MANY, "The road"):
        app.session_state["part"] = part
        app = whole(app.run())
    assert app.text_area(key="file").value.startswith("sentence\tlabel\ngood")


def test_every_section_is_placed_and_the_quiz_is_sound():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sections" / "service").glob("*.py"))
    assert all(f'"{heading}"' in source for heading in LESSON.sections)
    assert len(load_quiz(LESSON.folder / "quiz.toml")) >= 4
