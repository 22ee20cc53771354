"""What the class has trained: sums for all, names only of one's own."""

import html
import re
from functools import partial
from types import SimpleNamespace

import pytest
import streamlit as st

from jobs.manager import JobError
from tests.ui.driver import opened
from ui import runs
from ui.visitor import owner


def run_of(owner, title, score=None, state="finished", result=None, kind="finetune/classification/1", task=None):
    told = {}
    if state == "finished":
        told["done"] = {"step": 100, "metrics": {} if score is None else {task[1]: score}}
    if task:
        told["started"] = {"details": {"task": task[0], "metric": task[1]}}
    return SimpleNamespace(
        id=f"{owner} {kind} {state}",
        owner=owner,
        title=title,
        state=state,
        kind=kind,
        over=state in ("finished", "failed", "cancelled"),
        future=None,
        can_restart=False,
        tries=0,
        error=None,
        events=lambda: [],
        latest=told.get,
        progress=0.42,
        position=3,
        result=result or SimpleNamespace(is_dir=lambda: False),
    )


@pytest.fixture
def trained(monkeypatch):
    """The server's runs, for a reader called "me"."""
    everything = []
    of = SimpleNamespace(
        runs=lambda owner=None: [run for run in everything if owner in (None, run.owner)], removed=lambda owner: 0
    )
    monkeypatch.setattr(runs, "manager", lambda: of)
    monkeypatch.setattr(runs, "owner", lambda: "me")
    return everything


def test_sums_for_all_and_names_of_one_s_own(trained):
    nothing_yet = opened(runs.show_runs)
    assert not nothing_yet.metric and len(nothing_yet.markdown) == 1
    trained += [
        run_of("me", "<b>mine</b>", 0.75, task=("classification", "accuracy")),
        run_of("me", "alike", 0.5, task=("similarity", "pearson")),
        run_of("me", "a pretraining"),
        run_of("you", "secret.tsv", 0.81, task=("classification", "accuracy")),
        run_of("you", "going", state="running"),
        run_of("me", "broken", state="failed"),
    ]
    run = opened(runs.show_runs)
    assert [metric.value for metric in run.metric] == ["4", "1", "400"]
    page = " ".join(element.value for element in run.markdown)
    assert page.endswith("- a pretraining")
    assert "75.0%" in page and "0.500" in page
    assert "mine" in page and "secret" not in page and "<b>" not in page


def test_a_reader_keeps_one_name():
    one, other = opened(owner), opened(owner)
    name = one.session_state["got"]
    assert len(name) == 32 and one.run().session_state["got"] == name != other.session_state["got"]


def test_stopped_runs_leave_models_too_and_a_resumed_one_leaves_one(trained, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path))
    for name in ("whole", "half"):
        (tmp_path / name).mkdir()
        for file in (*runs.MODEL_FILES, *runs.VOCABULARIES[: name == "whole"]):
            (tmp_path / name / file).touch()
    whole, half = tmp_path / "whole", tmp_path / "half"
    late = run_of("me", "its files are on their way", state="cancelled", result=whole)
    late.future = object()
    trained += [
        run_of("me", "resumed", result=whole, kind="pretraining/7"),
        run_of("me", "before it was stopped", state="cancelled", result=whole, kind="pretraining/7"),
        run_of("me", "stopped", state="cancelled", result=whole, kind="pretraining/8"),
        run_of("me", "seed 1", result=whole),
        run_of("me", "seed 0", result=whole),
        run_of("me", "stopped too early", state="cancelled", result=half),
        late,
        run_of("you", "yours", result=whole),
    ]
    assert [run.title for run in runs.own_models()] == ["resumed", "stopped", "seed 1", "seed 0"]


def test_a_kind_of_run_is_itself_and_what_is_below_it(trained):
    trained += [
        run_of("me", "one", kind="experiment/size"),
        run_of("me", "other", kind="experiments"),
        run_of("you", "yours", kind="experiment/size"),
        run_of("me", "whole", kind="experiment"),
    ]
    assert [run.title for run in runs.own_runs("experiment")] == ["one", "whole"]
    assert [run.title for run in runs.own_runs("experiment/size")] == ["one"]


def test_a_run_that_is_refused_says_why_once(monkeypatch):
    def full(target, *arguments, owner, **options):
        raise JobError(f"<b>{target} {arguments} {owner} {options}</b>")

    def page():
        if st.button("Train"):
            assert runs.submit("module:run", 1, title="one") is None
        runs.show_refusal()

    monkeypatch.setattr(runs, "manager", lambda: SimpleNamespace(submit=full))
    monkeypatch.setattr(runs, "owner", lambda: "me")
    app = opened(page)
    (said,) = app.button[0].click().run().error
    assert html.unescape(said.value) == "<b>module:run (1,) me {'address': 'here', 'title': 'one'}</b>" != said.value
    assert not app.run().error


def test_a_row_names_its_run_says_its_state_and_stops_it():
    told = []
    going = run_of("me", "*one*", state="running")
    going.latest, going.position = lambda kind: {"step": 7}, None
    going.cancel, going.wait = lambda: told.append("cancel"), lambda timeout: told.append("wait")
    waits, ended = run_of("me", "two", state="queued"), run_of("me", "three", state="failed")
    ended.error = "<b>why</b>"
    rows = partial(runs.state_rows, title=lambda run: f"no. {run.title}")
    app = opened(rows, [going, waits, ended], lambda step: f", step {step['step']}")
    bars = [html.unescape(bar.proto.text) for bar in app.get("progress")]
    assert [bar.split(":")[0] for bar in bars] == ["no. *one*", "no. two", "no. three"]
    assert bars[0].endswith("step 7") and "3" in bars[1]
    assert [button.key for button in app.button] == [f"stop-{going.id}", f"stop-{waits.id}"]
    assert "<b>" not in app.error[0].value
    app.button[0].click().run()
    assert told == ["cancel", "wait"]


@pytest.fixture
def announced(trained, monkeypatch, tmp_path):
    """What the sidebar links to: (page, words) each."""
    said = []
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path))
    monkeypatch.setattr(runs, "find_page", lambda name: name in ("pretraining", "output_layer") or None)
    monkeypatch.setattr(runs, "link_to", lambda page, words, icon: said.append((page, html.unescape(words))))
    return said


def test_runs_that_go_on_are_announced_on_every_page_until_theirs_is_opened(trained, announced, monkeypatch):
    mine = partial(run_of, "me", "<b>mine</b>")
    trained += [mine(state="running", kind="pretraining/1"), mine(state="queued"), mine(kind="pretraining/2")]
    trained += [mine(state="running", kind="computed/x"), run_of("you", "yours", state="running")]
    monkeypatch.setattr(runs, "current_page", lambda: "masking")
    page = opened(runs.announce_runs)
    waits = f"<b>mine</b>: {html.unescape(runs.state_in_words(trained[1]))}"
    assert announced == [("pretraining", "<b>mine</b>: 42%"), ("output_layer", waits)]
    for run, state in zip(trained, ("finished", "failed"), strict=False):
        run.state, run.over = state, True
    announced.clear()
    page.run()
    ended = [f"<b>mine</b>: {runs.state_in_words(run)}" for run in trained[:2]]
    assert announced == list(zip(("pretraining", "output_layer"), ended, strict=True))
    monkeypatch.setattr(runs, "current_page", lambda: "pretraining")
    page.run()
    monkeypatch.setattr(runs, "current_page", lambda: "masking")
    announced.clear()
    page.run()
    assert [where for where, _words in announced] == ["output_layer"]


def test_without_a_run_nothing_is_announced_and_that_models_are_gone_is(trained, announced, monkeypatch):
    trained.append(run_of("me", "mine"))
    page = opened(runs.announce_runs)
    assert not announced and not page.sidebar.markdown and not page.sidebar.caption
    monkeypatch.setattr(runs.manager(), "removed", {"me": 2, "you": 9}.get)
    (said,) = opened(runs.announce_runs).sidebar.caption
    assert re.findall(r"\d+", said.value)[0] == "2"


@pytest.mark.parametrize(
    ("jobs", "scheduler", "here"),
    [
        ("", "", True),
        ("127.0.0.1:4711", "", True),
        ("192.0.2.7:4711", "", False),  # a job server on another machine
        ("127.0.0.1:4711", "tcp://192.0.2.7:8786", False),  # workers on others
    ],
)
def test_weights_that_ship_travel_only_to_other_machines(tmp_path, monkeypatch, jobs, scheduler, here):
    monkeypatch.setenv("MINIBERT_JOBS", jobs)
    monkeypatch.setenv("MINIBERT_SCHEDULER", scheduler)
    shipped = runs.CHECKPOINTS / "electra-toy" / "pair"
    monkeypatch.setattr(runs, "CHECKPOINTS", shipped.parent)
    sent = runs.weights_to_begin_with(shipped)
    assert sent == str(shipped) if here else "config.json" in sent.files
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert runs.weights_to_begin_with(tmp_path).files == {"config.json": b"{}"}  # a run's may be gone before its turn
