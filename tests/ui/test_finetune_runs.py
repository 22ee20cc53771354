"""What is drawn of fine-tuning runs: the readers' own words are never markup."""

import json
import shlex
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from minibert.tasks import TASKS
from sections.output_layer.mistakes import curl
from tests.pages.driver import figure
from tests.pages.finished_runs import spelling_predictor
from tests.ui.driver import script
from ui.finetune_runs import last_answers


def kinds(kind):
    from types import SimpleNamespace

    from sections.output_layer.mistakes import by_kind

    example, prediction = {"extra": {"kind": kind}}, {"grade": 1.0}
    details = {"dev_examples": [example]}
    last_eval = {"details": {"predictions": [prediction]}}
    by_kind([SimpleNamespace(details=details, last_eval=last_eval, start="pretrained")])


def test_a_kind_is_shown_as_text_and_in_words_as_it_was_written():
    run = script(kinds, args=("out-of-domain & <b>",)).run()
    assert not run.exception
    (place,) = figure(run, "kinds")["data"][0]["x"]
    assert "<" not in place and ">" not in place
    (chart,) = run.get("plotly_chart")
    assert "out-of-domain & <b>: 100%" in chart.proto.alt


def test_a_kind_that_is_a_number_is_a_name():
    drawn = figure(script(kinds, args=("7",)).run(), "kinds")
    assert drawn["layout"]["xaxis"]["type"] == "category" and drawn["data"][0]["x"] == ["7"]


@pytest.mark.parametrize(
    ("state", "future", "answers"), [("cancelled", None, 1), ("cancelled", 1, 0), ("running", None, 0)]
)
def test_a_stopped_run_answers_once_its_model_is_here(tmp_path, state, future, answers):
    directory = spelling_predictor("classification", ["no", "yes"]).save(tmp_path)
    events = [{"event": "step", "step": 3}, {"event": "log"}]
    run = SimpleNamespace(id=f"{state}-{future}", state=state, over=state != "running", future=future, result=directory)
    said = last_answers(SimpleNamespace(run=run, events=events, epoch=lambda event: event["step"] / 2), "my text")
    assert [(epoch, answer["text"]) for epoch, answer in said] == [(1.5, "my text")] * answers


def test_a_run_that_left_no_model_says_nothing(tmp_path):
    run = SimpleNamespace(id="none", state="cancelled", over=True, future=None, result=tmp_path)
    assert last_answers(SimpleNamespace(run=run, events=[{"event": "step", "step": 1}], epoch=float), "my text") == []


@pytest.mark.parametrize("task", TASKS)
def test_the_printed_command_holds_what_the_service_takes(task):
    own = {
        "classification": {"text": "a"},
        "pair": {"text": "a", "pair": "b"},
        "similarity": {"text": "a", "pair": "b"},
        "multilabel": {"text": "a"},
        "tagging": {"text": "a"},
        "span": {"question": "a", "context": "b"},
        "span-or-none": {"question": "a", "context": "b"},
        "choice": {"context": "a", "question": "", "choices": ["b", "c"]},
        "intent": {"text": "a"},
        "next-utterance": {"turns": ["a"], "choices": ["b", "c"]},
    }[task]
    for metadata in ((), ("kind",)):
        command = shlex.split(curl(TASKS[task], {**own, "kind": "x", "topic": "y"}, metadata))
        (given,) = json.loads(command[-1])["inputs"]
        assert given == {**own, **dict.fromkeys(metadata, "x")}
        assert Draft202012Validator(TASKS[task].input_schema(1_000, metadata)).is_valid(given)


def choosing():
    from sections.output_layer.train import chosen_runs

    chosen_runs("finetune/classification")


def test_a_click_s_runs_are_named_as_they_are_now(monkeypatch):
    """A select box keeps the words that its choice had when it was made: with other words it has to be another one."""
    from sections.output_layer import train

    told = {
        "started": {"settings": {"seed": 0}, "details": {"task": "classification", "metric": "accuracy"}},
        "eval": {"metrics": {"accuracy": 0.75}},
    }
    runs = [
        SimpleNamespace(
            kind=f"finetune/classification/{click}", title=f"Animals · seed {seed}", state="finished", over=True,
            created=click, events=lambda: [], latest=told.get,
        )
        for click in (2, 1)
        for seed in (0, 1)
    ]  # fmt: skip
    monkeypatch.setattr(train, "own_runs", lambda kind: runs)
    runs[0].state, runs[0].over = "running", False
    boxes = []
    for _again in range(2):
        run = script(choosing).run()
        assert not run.exception
        (box,) = run.selectbox
        boxes.append((box.key, *box.options))
        runs[0].state, runs[0].over = "finished", True
    assert boxes[0][0] != boxes[1][0] and boxes[0][1] != boxes[1][1]
    assert "75.0%" in boxes[1][1]
