"""From file to service: every step answers, requests are judged by the service's own code, and models can be taken."""

import json
import re
import shlex
from dataclasses import asdict
from functools import partial

import pytest

from minibert.__main__ import parser
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import CHECKPOINTS
from minibert.service.server import Limits
from minibert.tasks import TASKS
from minibert.train import Optimization
from sections.service.road import finetune_command
from sections.service.subject import DATA
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, plain, text_of, title_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from ui.lesson import REVIEWS

ME = "m" * 32
ASK, MANY, OUT = "Ask the service", "Many clients", "Before it goes out"
open_page = partial(driver.open_page, "service")
STATUS = {
    "good": 200,
    "two": 200,
    "json": 400,
    "missing": 400,
    "type": 400,
    "blank": 422,
    "unknown": 400,
    "long": 422,
    "many": 413,
}


def status(app) -> int:
    said = next(box.value for box in [*app.success, *app.error] if "HTTP" in box.value)
    return int(said.split("HTTP ")[1][:3])


def test_the_printed_command_makes_the_model_with_the_settings_of_its_run(tmp_path):
    (tmp_path / "FILE").write_text("")
    chosen = {"epochs": 7, "batch_size": 8, "seed": 2, "pooling": "mean", "from_scratch": True}
    settings = asdict(FinetuneSettings(optimization=Optimization(learning_rate=1e-3), **chosen))
    printed = finetune_command("pair", settings).replace("FILE", str(tmp_path / "FILE"))
    given = parser().parse_args(shlex.split(printed)[3:])
    assert given.task == "pair" and given.learning_rate == 1e-3 and given.scratch
    assert {name: getattr(given, name) for name in chosen if name != "from_scratch"} == {
        name: value for name, value in chosen.items() if name != "from_scratch"
    }
    assert given.max_length == settings["max_length"]
    for data in DATA.values():
        given = parser().parse_args(shlex.split(finetune_command("classification", asdict(data.settings), data))[3:])
        assert given.model == CHECKPOINTS / data.start and str(given.train).endswith(data.path("train"))
        assert (given.epochs, given.batch_size) == (data.epochs, data.batch_size)


def test_each_ready_request_gets_its_number(runs_folder):
    app = open_page(part=ASK)
    for name, expected in STATUS.items():
        app.button_group(key="ready").set_value(name)
        assert status(whole(app.run())) == expected, name
    app.text_area(key="request-classification").set_value(json.dumps({"inputs": ["fine", " "]}))  # one's own
    assert status(whole(app.run())) == 422 and any("input 2" in block.value for block in app.code)
    app.text_area(key="request-classification").set_value(json.dumps({"inputs": [EVERYTHING]}))
    assert_no_markup(whole(app.run()))


def test_the_file_step_names_lines_and_follows_the_text_which_is_there_on_coming_back(runs_folder):
    app = open_page(step=1)
    assert list(app.dataframe[0].value["line"]) == [3, 4]
    assert "negative: 1, positive: 2" in text_of(app)
    given = "sentence\tlabel\ngood\tx\nbad\ty\n"
    assert not whole(app.text_area(key="file").set_value(given).run()).dataframe
    for part in (MANY, "The road"):
        app.session_state["part"] = part
        app = whole(app.run())
    assert app.text_area(key="file").value == given
    app = whole(app.text_area(key="file").set_value("a\n<img src=x>\n").run())
    assert_no_markup(app)
    assert app.error
    other = whole(open_page(step=1, lang="zh").text_area(key="file").set_value("<img src=x>\tlabel\n").run())
    assert_no_markup(other)
    assert "sentence" in other.error[0].value and "表头" in other.error[0].value


def test_evaluate_and_predict_say_what_the_commands_say(runs_folder):
    app = open_page(step=3)
    said = next(block.value for block in app.code if block.value.startswith("lessons/data/reviews/test.tsv: accuracy"))
    assert " loss " in said
    app = open_page(step=4)
    answer = next(json.loads(block.value) for block in app.code if block.value.startswith('{"text"'))
    assert answer["label"] in ("negative", "positive")
    assert any(block.value.startswith(answer["label"]) for block in app.code)


def test_in_chinese_a_chinese_model_learns_answers_and_is_evaluated(runs_folder):
    app = open_page(lang="zh")
    assert json.loads(app.code[1].value)["label"] in ("时尚", "家居", "游戏")
    app = open_page(step=1, lang="zh")
    assert list(app.dataframe[0].value["行"]) == [3, 4]
    app = open_page(step=2, lang="zh")
    assert any("--model checkpoints/mini-zh" in block.value for block in app.code)
    app = open_page(step=3, lang="zh")
    assert any(block.value.startswith("lessons/data/topics-zh/dev.tsv: accuracy") for block in app.code)


def test_an_export_is_compared(runs_folder):
    app = whole(open_page(step=5).button(key="export-huggingface").click().run())
    (difference,) = re.findall(r"more than ([\d.e-]+\d)", "\n".join(block.value for block in app.code))
    assert float(difference) <= 1e-4


def test_limits_are_the_services_own(runs_folder):
    app = open_page(part=OUT)
    table = next(table.value for table in app.table if "limit" in table.value)
    assert f"{Limits().inputs:,}" in list(table["now"]) and f"{Limits().body:,}" in list(table["now"])


@pytest.mark.release
@pytest.mark.servers
def test_clients_together_are_measured(runs_folder):
    app = whole(open_page(part=MANY).button(key="measure").click().run())
    assert [len(trace["y"]) for trace in figure(app, "load")["data"]] == [3, 3]


def test_a_model_trained_here_is_taken_along(runs_folder, tmp_path):
    from ui.runs import manager

    model = spelling_predictor("classification", ["negative", "positive"])
    some = TASKS["classification"].read(REVIEWS / "dev.tsv").examples[:12]
    run = finished_run(manager(), tmp_path, model, some, kind="service/1", owner=ME, title="mine")
    app = open_page(step=2, owner=ME)
    assert app.selectbox(key="model").value == run.id  # chosen as soon as it is there
    table = next(table.value for table in app.table if "file" in table.value)
    assert {"config.json", "model.safetensors", "vocab.txt"} <= set(map(plain, table["file"]))
    assert "HTTP 200" in text_of(open_page(owner=ME))


def test_a_sentence_goes_in_and_an_answer_comes_out(runs_folder):
    app = open_page(text="A <b>b</b> film")
    assert "HTTP 200" in text_of(app)
    assert json.loads(app.code[0].value) == {"inputs": [{"text": "A <b>b</b> film"}]}
    assert json.loads(app.code[1].value)["label"] in ("negative", "positive")
    bars = figure(app, "request")["data"]
    assert len(bars) == 5
    ends = [bar["base"][0] + bar["x"][0] for bar in bars]
    assert [bar["base"][0] for bar in bars] == pytest.approx([0.0, *ends[:-1]])
    longest = max(bars, key=lambda bar: bar["x"][0])
    assert re.findall(r"\d+\.\d", title_of(app, "request")) == [f"{ends[-1]:.1f}", f"{longest['x'][0]:.1f}"]
    assert longest["y"][0] in title_of(app, "request")
    app.text_input(key="text").set_value(" ").run()  # refused before the model
    assert "HTTP 422" in text_of(app) and len(figure(app, "request")["data"]) == 2
    assert_no_markup(whole(app.text_input(key="text").set_value(EVERYTHING).run()))
