"""The pre-training page: texts in, runs stopped and resumed, steps looked back at, models kept."""

import json
import re
from functools import partial

import pytest
import torch
from streamlit.testing.v1 import AppTest

from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, text_of, whole
from tests.ui.driver import script
from tests.waiting import until
from ui.folders import CHECKPOINTS
from ui.lesson import Lesson
from ui.text import literal

LESSON = Lesson("pretraining")
open_page = partial(driver.open_page, "pretraining", told=["begins"])


@pytest.fixture
def app(runs_folder):
    return open_page()


def test_the_first_curves_wait_for_a_guess(runs_folder):
    app = driver.open_page("pretraining")
    panels = [axis for axis in figure(app, "cockpit-curves")["layout"] if axis.startswith("yaxis")]
    app.button(key="begins-guess-0").click()
    more = [axis for axis in figure(whole(app.run()), "cockpit-curves")["layout"] if axis.startswith("yaxis")]
    assert len(panels) == 1 and len(more) == 2


def upload(content: bytes, **query) -> AppTest:
    app = open_page(data="own", **query)
    app.file_uploader(key="file").set_value(("mine.txt", content, "text/plain"))
    return whole(app.run())


def test_its_defaults_are_the_toy_world_s(app):
    from minibert.toy.pretrain import TOY

    assert open_page(seconds="60").slider(key="seconds").value == TOY.minutes * 60  # such a link says no budget
    assert app.slider(key="steps").value == 600 and app.session_state["budget"] == "steps"
    assert open_page(budget="steps").slider(key="steps").value == 1_000  # what such a link meant
    assert app.select_slider(key="rate").value == TOY.optimization.learning_rate
    assert app.slider(key="masked").value == round(100 * TOY.masking.rate)
    assert (app.session_state["size"], app.session_state["start"]) == (TOY.preset, TOY.start)
    assert app.session_state["optimizer"] == TOY.optimization.optimizer
    assert not app.button(key="train").disabled


def test_the_minutes_in_the_prose_are_those_of_the_cards():
    _, prose = LESSON.section("What the curves say")
    cards = [(CHECKPOINTS / name / "README.md").read_text("utf-8") for name in ("mini-en", "mini-zh")]
    minutes = [sum(map(int, re.findall(r"--minutes (\d+)", card))) for card in cards]
    assert list(map(int, re.search(r"took (\d+) minutes\D+(\d+)", prose).groups())) == minutes


def test_a_story_shows_what_determines_its_words(app):
    from minibert.toy.world import generate

    story = generate(3, world="small")
    asked = [word for word in story.words if word.kind]
    assert f"{len(asked)} of its {len(story.words)} " in text_of(app)
    chips = next(block.proto.body for block in app.get("html") if "mb-changed" in block.proto.body)
    assert chips.count("mb-changed") == len(asked)
    first = asked[0]
    told = ", ".join(story.words[i].text for i in first.determined_by)
    assert f"<bdi>{first.text}</bdi><small>← {told}</small>" in chips
    app.button(key="another-story").click()
    assert whole(app.run()).query_params["story"] == "4"


def test_any_sentence_is_text(app):
    for text in ("", EVERYTHING):
        for cloze in (text, f"{text} [MASK]"):
            app.text_input(key="cloze").set_value(cloze)
            assert_no_markup(whole(app.run()))


@pytest.mark.parametrize(
    ("content", "query"),
    [
        (b"caf\xe9 and more\n", {}),
        (b"", {}),
        (b"a b c\n" * 1_000_000, {}),  # 5 MB are taken
        (b"One document.\n", {"pairs": "true"}),  # a pair needs two
    ],
    ids=["not UTF-8", "empty", "large", "one document"],
)
def test_an_unusable_file_is_refused(runs_folder, content, query):
    app = upload(content, **query)
    assert len(app.error) == 1 and app.button(key="train").disabled


def test_what_is_uploaded_is_counted_and_can_be_learned_from(runs_folder):
    app = upload("\n\n".join(f"document number {n}." for n in range(30)).encode())
    assert re.search(r"\b30 \w+, 90 ", text_of(app)) and not app.button(key="train").disabled
    assert not upload(b"One document.\n").button(key="train").disabled


@pytest.mark.release
@pytest.mark.trains
def test_a_run_is_stopped_resumed_looked_back_at_kept_and_deleted(runs_folder, monkeypatch):
    """The whole way, on the toy world."""
    from minibert import checkpoint
    from minibert.pretrain import fill
    from minibert.training import snapshots
    from ui import models, runs

    steps = 150  # enough not to end before it is stopped, on a busy machine too
    app = open_page(budget="steps", steps=str(steps))
    app.text_input(key="name").set_value("<b>mine</b>")
    app.text_input(key="cloze").set_value("tom has a\u2028[MASK] .")  # a line separator, as pasted from a slide
    whole(app.button(key="train").click().run())
    (run,) = runs.manager().runs()
    monkeypatch.setattr(runs, "owner", lambda: run.owner)
    until(lambda: run.latest("step"))
    whole(app.button(key=f"stop-{run.id}").click().run())
    until(lambda: runs.settled(run))
    assert run.state == "cancelled" and [info.name for info in models._own_runs()] == [run.id]

    lost = runs.manager().submit(run.target, kind=run.kind, title=run.title, owner=run.owner)
    until(lambda: runs.settled(lost))
    assert lost.state == "failed" and not lost.files  # a resumed run that ended before it could save
    whole(app.run())
    whole(app.button(key=f"resume-{lost.id}").click().run())
    again = runs.manager().runs()[0]
    assert again.kind == run.kind and again.title == run.title == "<b>mine</b>"
    until(lambda: runs.settled(again))
    assert again.state == "finished", again.traceback
    assert [info.name for info in models._own_runs()] == [again.id]  # its first part is not a model of its own
    told = [event["step"] for one in (run, again) for event in one.events() if event["event"] == "step"]
    assert told == sorted(set(told))
    assert again.latest("done")["step"] == steps > run.latest("step")["step"]
    assert "\u2028" in (again.result / "training.jsonl").read_text(encoding="utf-8")
    metrics = again.latest("eval")["metrics"]
    assert set(metrics) >= {"determined", "guessable", "guessable_from_neighbours"}

    tiles = {metric.value: metric.delta for metric in whole(app.run()).metric}
    assert f"{metrics['guessable_from_neighbours']:.0%}" in tiles[f"{metrics['determined']:.1%}"]
    app.session_state["part"] = "Look back"
    whole(app.run())
    kept = snapshots.listed(again.result)
    assert len(kept) >= 2 and app.select_slider(key="at").options[0] == f"{kept[0].step:,}"
    whole(app.select_slider(key="at").set_value(0).run())
    then, now = snapshots.load(again.result, kept[0]), checkpoint.load(again.result)
    text = app.text_input(key="sentence").value
    tokenizer = checkpoint.load_tokenizer(again.result)
    bars = next(chart.proto.alt for chart in app.get("plotly_chart") if chart.proto.alt.startswith("Likeliest"))
    with torch.no_grad():
        before, after = (fill(model, tokenizer, text)[0] for model in (then, now))
    assert f", at step {kept[0].step:,}: {before[0][0]} {before[0][1]:.1%}" in bars and before != after

    app.session_state["part"] = "The recipe"
    whole(app.run())
    table = next(one.value for one in app.table if "the paper" in one.value)
    mine = dict(zip(table["what"], table[literal("<b>mine</b>")], strict=True))
    assert mine["hidden"] == "35 %" and mine["learning rate"].startswith("0.005 ")
    assert mine["steps"] == f"{steps:,}, {again.latest('step')['tokens']:,} tokens"
    app.session_state["part"] = "Keep it"
    whole(app.run())
    whole(app.button(key=f"delete-{again.id}").click().run())
    assert not runs.manager().runs() and not models._own_runs()


@pytest.mark.release
@pytest.mark.trains
def test_a_run_on_a_text_of_ones_own_is_measured_on_documents_kept_apart(runs_folder):
    from ui import runs

    app = upload("\n\n".join(f"the cat number {n} sat.\nit saw {n} mice." for n in range(200)).encode(),
                 budget="steps", steps="50", pairs="true", start="random", size="tiny")  # fmt: skip
    whole(app.button(key="train").click().run())
    (run,) = runs.manager().runs()
    until(lambda: runs.settled(run))
    assert run.state == "finished", run.traceback
    assert {"mlm_loss", "nsp_accuracy"} <= set(run.latest("eval")["metrics"])
    assert sorted(path.name for path in (run.directory / "text").iterdir()) == ["dev.txt", "train.txt"]
    whole(app.run())
    assert {"NSP accuracy", "MLM loss"} <= {metric.label for metric in app.metric}


def test_every_part_opens(runs_folder):
    views = [{"part": part} for part in ("The curves", "Look back", "The recipe", "Keep it", "The code")]
    for view in ({"data": "course"}, *views):
        assert not open_page(**view).error, view


def test_there_are_sentences_for_the_toy_world_and_for_other_texts():
    from minibert.toy.world import vocabulary

    known = {*vocabulary(), "mask"}
    toy = [all(word in known for word in re.findall(r"\w+", text.lower())) for text in LESSON.examples]
    assert sum(toy) >= 3 and len(toy) - sum(toy) >= 3 and all("[MASK]" in text for text in LESSON.examples)


def test_a_checkpoint_that_ships_can_be_looked_back_at_to_the_end_of_its_log(runs_folder):
    from minibert.pretrain import LOG
    from minibert.training import snapshots

    kept = snapshots.listed(CHECKPOINTS / "mini-en")
    app = open_page(past="mini-en", at="1")
    assert app.select_slider(key="at").options[:-1] == [f"{one.step:,}" for one in kept]
    log = (CHECKPOINTS / "mini-en" / LOG).read_text().splitlines()
    last = json.loads([line for line in log if '"step", "step"' in line][-1])
    assert app.select_slider(key="at").options[-1] == f"{last['step']:,}"


@pytest.mark.parametrize(
    ("link", "part"),
    [
        ({}, "The text"),
        ({"past": "mini-en"}, "Look back"),
        ({"axis": "tokens"}, "The curves"),
        ({"story": 5}, "The text"),
    ],
)
def test_a_link_made_before_there_were_tabs_opens_its_part(runs_folder, link, part):
    assert open_page(**link).session_state["part"] == part


def test_before_the_first_run_a_model_that_ships_is_drawn(app):
    assert "mini-en" in driver.title_of(app, "cockpit-curves") and figure(app, "cockpit-curves")["data"]


def log_reader():
    from pathlib import Path

    import streamlit as st

    from sections.pretraining.trainings import logged

    st.session_state["events"] = logged(Path(st.session_state["folder"]))


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        (b'{"event": "step", "step": 1}\n{"event": "st', 0),  # killed while it wrote
        (b'{"event": "step", "step": 1}\n' + b"[" * 100_000 + b"\n", 1),
        (b'["event"]\n', 1),
        (b'{"step": 1}\n', 1),
        (b"\xff\n", 1),
    ],
    ids=["cut short", "nested", "no record", "no event", "not UTF-8"],
)
def test_a_log_that_cannot_be_read_is_said_on_the_page(content, errors, tmp_path):
    (tmp_path / "training.jsonl").write_bytes(content)
    app = script(log_reader)
    app.session_state["folder"] = str(tmp_path)
    app.run()
    assert not app.exception and len(app.error) == errors
    assert app.session_state["events"] == ([] if errors else [{"event": "step", "step": 1}])
