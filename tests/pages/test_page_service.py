"""From file to service: every step answers, requests are judged by the service's own code, and models can be taken."""

import json
import re
import shlex
from dataclasses import asdict, fields, replace
from functools import partial

import pytest

from minibert.__main__ import parser
from minibert.command_line.finetuning import settings_of
from minibert.finetune.augmentation import Augmentation
from minibert.finetune.distillation import distillation_of
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import CHECKPOINTS, LESSONS
from minibert.service.server import Limits
from minibert.tasks import TASKS
from minibert.train import Optimization
from sections.service.finetune_command import finetune_command
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, plain, text_of, title_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from ui.lesson import REVIEWS
from ui.task_data import shipped, shipped_sets

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


OTHERWISE = {  # a setting of a run → other than the command's default
    "epochs": 7,
    "batch_size": 8,
    "dropout": 0.25,
    "dropout_samples": 4,
    "optimization": Optimization(learning_rate=1e-3, warmup=0.2),
    "seed": 2,
    "from_scratch": True,
    "max_seconds": 900,
    "freeze": 1,
    "layer_decay": 0.9,
    "bias_correction": False,
    "mlm_weight": 0.3,
    "auxiliary": ("kind of place", "stars"),
    "auxiliary_weight": 0.2,
    "averaging": 0.5,
    "patience": 2,
    "augmentation": Augmentation("drop", 0.2, 3),
    "group_by_length": True,
    "distillation": distillation_of(["labels", "hidden"], 2.0),
    "prompt": "lstm",
    "vat_weight": 1.0,
    "vat_epsilon": 0.5,
    "max_length": 64,
    "truncation": "head_tail",
    "budgets": (40, 20),
    "texts_beside": ("the 'answer'",),
    "doc_stride": 32,
    "pooling": "mean",
    "layers": "weighted",
    "bilstm": True,
    "classifier_depth": 2,
    "classifier_activation": "gelu",
    "classifier_norm": "layer",
    "loss": "focal",
    "focal_gamma": 1.0,
    "metadata": ("category", "$x"),
    "metadata_as": "token",
    "pattern": '{text} "It" was [MASK].',
    "words": {"a=b": ["bad", "worse"], "good": ["great"]},
}
WITHOUT_OPTION = {"evaluations_per_epoch", "dev_sample", "set_aside", "beside_size", "max_question", "max_answer"}
WITHOUT_OPTION |= {"n_best", "loss_weights", "metadata_values", "word_ids", "mask_id", "null_threshold", "thresholds"}
USUAL = FinetuneSettings(optimization=Optimization(learning_rate=3e-4))


def printed(settings, *, model="mini-en", files=None):
    """(what the parser makes of the command as it is printed, the settings without an option)."""
    command, left = finetune_command("pair", asdict(settings), model, files or {})
    return parser().parse_args(shlex.split(shlex.join(command))[3:]), left


def test_every_setting_is_printed_or_named():
    assert {field.name for field in fields(FinetuneSettings)} == OTHERWISE.keys() | WITHOUT_OPTION
    assert printed(replace(USUAL, n_best=7, metadata=("-x",)))[1] == {"n_best": 7, "metadata": ["-x"]}


@pytest.mark.parametrize("name", OTHERWISE)
def test_the_printed_command_gives_its_run_the_settings(name):
    settings = replace(USUAL, **{name: OTHERWISE[name]})
    given, left = printed(settings)
    assert settings_of(given) == settings != USUAL and not left


def test_the_printed_command_names_checkpoint_and_data():
    for name, one in shipped_sets().items():
        data = shipped(name)
        given, _left = printed(USUAL, model="minilm-en", files={"train": data.train.name, "dev": data.dev.name})
        assert given.model.resolve() == CHECKPOINTS / "minilm-en"
        assert (given.train.resolve(), given.dev.resolve()) == tuple(
            LESSONS / "data" / name / f"{part}{one.ending}" for part in ("train", "dev")
        )
    given, _left = printed(USUAL, model="result", files={"train": "mine.tsv", "dev": "mine.tsv"})  # a part is set aside
    assert (given.model.name, given.train.name, given.dev) == ("MODEL", "TRAIN", None)
    given, _left = printed(USUAL, files={"train": "mine.tsv", "dev": "other.tsv"})
    assert (given.train.name, given.dev.name) == ("TRAIN", "DEV")


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
    app = open_page(owner=ME)
    assert "HTTP 200" in text_of(app) and any("mine" in plain(caption.value) for caption in app.caption)


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
