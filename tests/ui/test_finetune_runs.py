"""What is drawn of fine-tuning runs: the readers' own words are never markup."""

import json
import shlex
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from minibert.tasks import TASKS
from minibert.tasks.given import input_key
from sections.output_layer import train
from sections.output_layer.mistakes import by_kind, curl
from tests.pages.driver import figure
from tests.pages.finished_runs import spelling_predictor
from tests.ui.driver import opened
from ui.finetune_runs import last_answers


def kinds(kind):
    """The page of how many examples of this kind a model got right."""
    details = {"dev_examples": [{"extra": {"kind": kind}}]}
    last_eval = {"details": {"predictions": [{"grade": 1.0}]}}
    one = SimpleNamespace(details=details, last_eval=last_eval, start="pretrained", began="mini <i>")
    return opened(by_kind, [one])


def test_a_kind_is_shown_as_text_and_in_words_as_it_was_written():
    run = kinds("out-of-domain & <b>")
    (place,) = figure(run, "kinds")["data"][0]["x"]
    assert "<" not in place and ">" not in place
    (chart,) = run.get("plotly_chart")
    assert "out-of-domain & <b>: 100%" in chart.proto.alt
    drawn = figure(kinds("7"), "kinds")  # a number that is a name
    assert drawn["layout"]["xaxis"]["type"] == "category" and drawn["data"][0]["x"] == ["7"]


@pytest.mark.parametrize(
    ("state", "future", "model", "answers"),
    [("failed", None, True, 1), ("failed", 1, True, 0), ("running", None, True, 0), ("failed", None, False, 0)],
)
def test_a_stopped_run_answers_once_its_model_is_here(tmp_path, state, future, model, answers):
    if model:
        spelling_predictor("classification", ["no", "yes"]).save(tmp_path)
    events = [{"event": "step", "step": 3}, {"event": "log"}]
    run = SimpleNamespace(id=str(tmp_path), state=state, over=state != "running", future=future, result=tmp_path)
    said = last_answers(SimpleNamespace(run=run, events=events, epoch=lambda event: event["step"] / 2), "my text")
    assert [(epoch, answer["text"]) for epoch, answer in said] == [(1.5, "my text")] * answers


def test_a_text_that_was_changed_during_the_run_is_answered_by_the_trained_model_in_the_end(tmp_path):
    spelling_predictor("classification", ["no", "yes"]).save(tmp_path)
    early = {"event": "sample", "step": 0, "answers": [{"asked": input_key("my text"), "label": "no"}]}
    run = SimpleNamespace(id=str(tmp_path), state="finished", over=True, future=None, result=tmp_path)
    one = SimpleNamespace(run=run, events=[early, {"event": "step", "step": 3}], epoch=lambda event: event["step"] / 2)
    assert [epoch for epoch, _answer in last_answers(one, "my text")] == [0, 1.5]
    one.events.append(early | {"step": 3})  # it was in view at the end
    assert [epoch for epoch, _answer in last_answers(one, "my text")] == [0, 1.5]


@pytest.mark.parametrize("task", TASKS)
def test_the_printed_command_holds_what_the_service_takes(task):
    pair, span = {"text": "a", "pair": "b"}, {"question": "a", "context": "b"}
    own = {
        "pair": pair,
        "similarity": pair,
        "span": span,
        "span-or-none": span,
        "choice": {"context": "a", "question": "", "choices": ["b", "c"]},
        "next-utterance": {"turns": ["a"], "choices": ["b", "c"]},
    }.get(task, {"text": "a"})
    for metadata in ((), ("kind",)):
        command = shlex.split(curl(TASKS[task], {**own, "kind": "x", "topic": "y"}, metadata))
        (given,) = json.loads(command[-1])["inputs"]
        assert given == {**own, **dict.fromkeys(metadata, "x")}
        assert Draft202012Validator(TASKS[task].input_schema(1_000, metadata)).is_valid(given)


def test_a_click_s_runs_are_named_as_they_are_now(monkeypatch):
    """A select box keeps the words that its choice had when it was made: with other words it has to be another one."""
    told = {
        "started": {"settings": {"seed": 0}, "details": {"task": "classification", "metric": "accuracy"}},
        "eval": {"metrics": {"accuracy": 0.75}},
    }
    runs = [
        SimpleNamespace(
            kind=f"finetune/classification/{click}",
            title=f"Animals · seed {seed}",
            state="finished",
            over=True,
            created=click,
            events=lambda: [],
            latest=told.get,
        )
        for click in (2, 1)
        for seed in (0, 1)
    ]
    monkeypatch.setattr(train, "own_runs", lambda kind: runs)
    runs[0].state, runs[0].over = "running", False
    boxes = []
    for _again in range(2):
        (box,) = opened(train.chosen_runs, "finetune/classification").selectbox
        boxes.append((box.key, *box.options))
        runs[0].state, runs[0].over = "finished", True
    assert boxes[0][0] != boxes[1][0] and boxes[0][1] != boxes[1][1]
    assert "75.0%" in boxes[1][1]
