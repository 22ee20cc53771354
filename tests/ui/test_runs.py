"""What the class has trained: sums for all, names only of one's own."""

import html
import re
from types import SimpleNamespace

import pytest

from tests.ui.driver import script
from ui import runs


def run_of(owner, title, score=None, state="finished", result=None, kind="finetune/classification/1", task=None):
    told = {}
    if state == "finished":
        told["done"] = {"step": 100, "metrics": {} if score is None else {task[1]: score}}
    if task:
        told["started"] = {"details": {"task": task[0], "metric": task[1]}}
    return SimpleNamespace(
        id=title,
        owner=owner,
        title=title,
        state=state,
        kind=kind,
        over=state in ("finished", "failed", "cancelled"),
        future=None,
        can_begin_again=False,
        tries=0,
        events=lambda: [],
        latest=told.get,
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


def app():
    from ui.runs import show_runs

    show_runs()


def test_nothing_yet(trained):
    run = script(app).run()
    assert not run.exception and not run.metric
    assert len(run.markdown) == 1


def test_sums_for_all_and_names_of_one_s_own(trained):
    trained += [
        run_of("me", "<b>mine</b>", 0.75, task=("classification", "accuracy")),
        run_of("me", "alike", 0.5, task=("similarity", "pearson")),
        run_of("me", "a pretraining"),
        run_of("you", "secret.tsv", 0.81, task=("classification", "accuracy")),
        run_of("you", "going", state="running"),
        run_of("me", "broken", state="failed"),
    ]
    run = script(app).run()
    assert [metric.value for metric in run.metric] == ["4", "1", "400"]
    page = " ".join(element.value for element in run.markdown)
    assert page.endswith("- a pretraining")
    assert "75.0%" in page and "0.500" in page
    assert "mine" in page and "secret" not in page and "<b>" not in page


def test_a_reader_keeps_one_name():
    def reader():
        import streamlit as st

        from ui.visitor import owner

        st.text(owner())

    one = script(reader).run()
    name = one.text[0].value
    assert len(name) == 32 and one.run().text[0].value == name
    assert script(reader).run().text[0].value != name


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
    from jobs.manager import JobError

    def full(target, *arguments, owner, **options):
        raise JobError(f"<b>{target} {arguments} {owner} {options}</b>")

    def page():
        import streamlit as st

        from ui.runs import show_refusal, submit

        if st.button("Train"):
            st.text(submit("module:run", 1, title="one"))
        show_refusal()

    monkeypatch.setattr(runs, "manager", lambda: SimpleNamespace(submit=full))
    monkeypatch.setattr(runs, "owner", lambda: "me")
    app = script(page).run()
    app.button[0].click().run()
    assert app.text[0].value == "None"
    assert (
        html.unescape(app.error[0].value)
        == "<b>module:run (1,) me {'address': 'here', 'title': 'one'}</b>"
        != app.error[0].value
    )
    assert not app.run().error


def test_a_row_names_its_run_says_its_state_and_stops_it():
    def rows():
        from types import SimpleNamespace

        import streamlit as st

        from ui.runs import state_rows

        told = st.session_state.setdefault("told", [])
        common = {"progress": 0.5, "error": None, "can_begin_again": False, "tries": 0, "events": lambda: []}
        going = SimpleNamespace(
            id="1", title="*one*", state="running", over=False, position=None, latest=lambda kind: {"step": 7},
            cancel=lambda: told.append("cancel"), wait=lambda timeout: told.append("wait"), **common,
        )  # fmt: skip
        waits = SimpleNamespace(
            id="2", title="two", state="queued", over=False, position=3, latest=lambda kind: None, **common
        )
        ended = SimpleNamespace(
            id="3", title="three", state="failed", over=True, position=None, latest=lambda kind: {"step": 9},
            progress=1.0, error="<b>why</b>", can_begin_again=False,
        )  # fmt: skip
        state_rows([going, waits, ended], lambda step: f", step {step['step']}", title=lambda run: f"no. {run.title}")

    app = script(rows).run()
    assert not app.exception
    bars = [html.unescape(bar.proto.text) for bar in app.get("progress")]
    assert [bar.split(":")[0] for bar in bars] == ["no. *one*", "no. two", "no. three"]
    assert bars[0].endswith("step 7") and "3" in bars[1]
    assert [button.key for button in app.button] == ["stop-1", "stop-2"]
    assert "<b>" not in app.error[0].value
    app.button(key="stop-1").click().run()
    assert app.session_state["told"] == ["cancel", "wait"]


def announcing():
    from ui.runs import announce_runs

    announce_runs()


@pytest.fixture
def announced(trained, monkeypatch, tmp_path):
    """What the sidebar links to: (page, words, icon) each."""
    said = []
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path))
    monkeypatch.setattr(runs, "stop_called", lambda name: name in ("pretraining", "output_layer") or None)
    monkeypatch.setattr(runs, "link_to", lambda page, words, icon: said.append((page, html.unescape(words), icon)))
    return said


def of_state(state, kind="pretraining/1", owner="me"):
    run = run_of(owner, "<b>mine</b>", state=state, kind=kind)
    run.id, run.progress, run.position = f"{owner} {kind} {state}", 0.42, 3
    return run


def test_runs_that_go_on_are_announced_on_every_page_until_theirs_is_opened(trained, announced, monkeypatch):
    trained += [
        of_state("running"), of_state("queued", "finetune/classification/1"), of_state("running", "computed/x"),
        of_state("running", owner="you"), of_state("finished", "pretraining/2"),
    ]  # fmt: skip
    monkeypatch.setattr(runs, "current_page", lambda: "masking")
    page = script(announcing).run()
    assert not page.exception
    assert [one[:2] for one in announced] == [
        ("pretraining", "<b>mine</b>: 42%"),
        ("output_layer", f"<b>mine</b>: {html.unescape(runs.state_in_words(trained[1]))}"),
    ]
    trained[0].state, trained[0].over = "finished", True
    trained[1].state, trained[1].over = "failed", True
    trained[4:] = []
    announced.clear()
    page.run()
    assert [one[:2] for one in announced] == [
        (page, f"<b>mine</b>: {runs.state_in_words(run)}")
        for page, run in zip(("pretraining", "output_layer"), trained, strict=False)
    ]
    monkeypatch.setattr(runs, "current_page", lambda: "pretraining")
    page.run()
    monkeypatch.setattr(runs, "current_page", lambda: "masking")
    announced.clear()
    page.run()
    assert [one[0] for one in announced] == ["output_layer"]


def test_without_a_run_nothing_is_announced(trained, announced):
    trained += [of_state("finished")]
    page = script(announcing).run()
    assert not page.exception and not announced and not page.sidebar.markdown and not page.sidebar.caption


def test_that_models_are_gone_is_said_on_every_page(trained, announced, monkeypatch):
    monkeypatch.setattr(runs.manager(), "removed", {"me": 2, "you": 9}.get)
    page = script(announcing).run()
    assert not page.exception
    (said,) = page.sidebar.caption
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
