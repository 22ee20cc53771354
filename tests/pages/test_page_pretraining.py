"""The pre-training page: texts in, runs stopped and resumed, steps looked back at, models kept."""

import json
import math
import re
from dataclasses import replace
from functools import partial

import pytest
import torch
from streamlit.testing.v1 import AppTest

from jobs.run import Run
from minibert import checkpoint
from minibert.folders import CHECKPOINTS
from minibert.pretrain import LOG, PretrainSettings, fill
from minibert.toy.pretrain import TOY
from minibert.toy.world import generate, vocabulary
from minibert.training import snapshots
from sections.pretraining import cockpit
from sections.pretraining.settings import STEPS
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, link, metrics, numbers, part, plain, text_of, whole
from tests.ui.driver import script
from tests.waiting import until
from ui import runs
from ui.lesson import Lesson
from ui.text import literal

LESSON = Lesson("pretraining")
open_page = partial(driver.open_page, "pretraining", told=["begins"])


@pytest.fixture
def app(runs_folder):
    return open_page()


def test_the_first_curves_are_of_the_chosen_text_and_wait_for_a_guess(runs_folder):
    """First the loss; what is guessed is where it begins, of a model of that text's vocabulary."""
    for data, size, shown in (("toy", len(vocabulary()), 2), ("course", 8192, 1)):
        app = driver.open_page("pretraining", data=data, told=[])
        assert f"ln {size:,} = {math.log(size):.2f}" in plain(app.button(key="begins-guess-2").label)
        assert not figure(app, "cockpit-curves")["data"]
        whole(app.button(key="begins-guess-2").click().run())
        drawn = figure(app, "cockpit-curves")
        assert len([axis for axis in drawn["layout"] if axis.startswith("yaxis")]) == shown
        begins = numbers(drawn["data"][0]["y"])[0]
        assert abs(begins - math.log(size)) < min(abs(begins - other) for other in (0, math.log(2), size))


def test_the_recorded_run_is_the_page_s_own_but_from_random_numbers():
    begun, *events = map(json.loads, (LESSON.folder / LOG).read_text("utf-8").splitlines())
    recorded = PretrainSettings.from_dict(begun["settings"])
    assert replace(recorded, start=TOY.start, minutes=TOY.minutes, steps=None, snapshots=TOY.snapshots) == TOY
    assert recorded.steps == STEPS == events[-1]["step"] and begun["details"]["vocab_size"] == len(vocabulary())


def test_a_run_in_progress_is_seen_stopped_and_opened_from_every_part(runs_folder, monkeypatch):
    run = Run(runs.manager(), runs.manager().directory, "me", "mine", "pretraining/1", "x:y")
    run.store()
    step = {"step": 7, "progress": 0.5, "loss": 4.25, "lr": 1e-3, "tokens": 70, "tokens_per_second": 9.0}
    run.add([json.dumps({"event": "step", "seconds": 1.0, "parts": {"mlm_loss": 4.25}, **step})])
    run.change("running")
    run.cancel = lambda: run.change("cancelled")
    monkeypatch.setitem(runs.manager()._runs, run.id, run)
    app = open_page(owner="me", part="The recipe")
    (line,) = app.get("progress")
    assert "7" in line.proto.text and "4.25" in line.proto.text and figure(app, "cockpit-curves") is None
    whole(app.button(key=f"watch-{run.id}").click().run())
    assert app.session_state["part"] == cockpit.title() and figure(app, "cockpit-curves")
    whole(part(app, "Keep it").button(key=f"stop-{run.id}").click().run())
    assert run.over


def upload(content: bytes, **query) -> AppTest:
    app = open_page(data="own", **query)
    app.file_uploader(key="file").set_value(("mine.txt", content, "text/plain"))
    return whole(app.run())


def test_its_defaults_are_the_toy_world_s_and_a_story_shows_what_determines_its_words(app):
    assert open_page(budget="seconds").slider(key="seconds").value == TOY.minutes * 60
    assert app.slider(key="steps").value == 600 and app.session_state["budget"] == "steps"
    assert app.select_slider(key="rate").value == TOY.optimization.learning_rate
    assert app.slider(key="masked").value == round(100 * TOY.masking.rate)
    chosen = [app.session_state[name] for name in ("size", "start", "optimizer")]
    assert chosen == [TOY.preset, TOY.start, TOY.optimization.optimizer]
    assert not app.button(key="train").disabled
    part(app, "The text")
    story = generate(3, world="small")
    asked = [word for word in story.words if word.kind]
    assert f"{len(asked)} of its {len(story.words)} " in text_of(app)
    chips = next(block.proto.body for block in app.get("html") if "mb-changed" in block.proto.body)
    assert chips.count("mb-changed") == len(asked)
    told = ", ".join(story.words[i].text for i in asked[0].determined_by)
    assert f"<bdi>{asked[0].text}</bdi><small>← {told}</small>" in chips
    assert link(whole(app.button(key="another-story").click().run()), "story") == "4"


def test_the_minutes_in_the_prose_are_those_of_the_cards_and_sentences_are_for_both_worlds():
    _, prose = LESSON.section("What the curves say")
    cards = [(CHECKPOINTS / name / "README.md").read_text("utf-8") for name in ("mini-en", "mini-zh")]
    minutes = [sum(map(int, re.findall(r"--minutes (\d+)", card))) for card in cards]
    assert list(map(int, re.search(r"took (\d+) minutes\D+(\d+)", prose).groups())) == minutes
    toy = [{*re.findall(r"\w+", text.lower())} <= {*vocabulary(), "mask"} for text in LESSON.examples]
    assert sum(toy) >= 3 and len(toy) - sum(toy) >= 3 and all("[MASK]" in text for text in LESSON.examples)


def test_any_sentence_is_text(app):
    for cloze in ("", " [MASK]", EVERYTHING, f"{EVERYTHING} [MASK]"):
        assert_no_markup(whole(app.text_input(key="cloze").set_value(cloze).run()))


def test_what_is_uploaded_is_counted_and_can_be_learned_from_unless_it_is_unusable(runs_folder):
    app = part(upload("\n\n".join(f"document number {n}." for n in range(30)).encode()), "The text")
    assert re.search(r"\b30 \w+, 90 ", text_of(app)) and not app.button(key="train").disabled
    assert not upload(b"One document.\n").button(key="train").disabled
    for content, query in (
        (b"caf\xe9 and more\n", {}),  # not UTF-8
        (b"", {}),
        (b"a b c\n" * 1_000_000, {}),  # 5 MB are taken
        (b"One document.\n", {"pairs": "true"}),  # a pair needs two
    ):
        app = upload(content, **query)
        assert len(app.error) == 1 and app.button(key="train").disabled


@pytest.mark.release
@pytest.mark.trains
def test_a_run_is_stopped_resumed_looked_back_at_kept_and_deleted(runs_folder, monkeypatch):
    """The whole way, on the toy world."""
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
    assert run.state == "cancelled" and [run.id for run in runs.own_models()] == [run.id]

    lost = runs.manager().submit(run.target, kind=run.kind, title=run.title, owner=run.owner)
    until(lambda: runs.settled(lost))
    assert lost.state == "failed" and not lost.files  # a resumed run that ended before it could save
    whole(app.run())
    whole(app.button(key=f"resume-{lost.id}").click().run())
    again = runs.manager().runs()[0]
    assert again.kind == run.kind and again.title == run.title == "<b>mine</b>"
    until(lambda: runs.settled(again))
    assert again.state == "finished", again.traceback
    assert [run.id for run in runs.own_models()] == [again.id]  # its first part is not a model of its own
    told = [event["step"] for one in (run, again) for event in one.events() if event["event"] == "step"]
    assert told == sorted(set(told))
    assert again.latest("done")["step"] == steps > run.latest("step")["step"]
    assert "\u2028" in (again.result / "training.jsonl").read_text(encoding="utf-8")
    metrics = again.latest("eval")["metrics"]
    assert set(metrics) >= {"determined", "guessable", "guessable_from_neighbours"}

    tiles = {metric.value: metric.delta for metric in whole(app.run()).metric}
    assert f"{metrics['guessable_from_neighbours']:.0%}" in tiles[f"{metrics['determined']:.1%}"]
    part(app, "Look back")
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

    part(app, "The recipe")
    table = next(one.value for one in app.table if "the paper" in one.value)
    mine = dict(zip(table["what"], table[literal("<b>mine</b>")], strict=True))
    assert mine["hidden"] == "35 %" and mine["learning rate"].startswith("0.005 ")
    assert mine["steps"] == f"{steps:,}, {again.latest('step')['tokens']:,} tokens"
    part(app, "Keep it")
    whole(app.button(key=f"delete-{again.id}").click().run())
    assert not runs.manager().runs() and not runs.own_models()


@pytest.mark.release
@pytest.mark.trains
def test_a_run_on_a_text_of_ones_own_is_measured_on_documents_kept_apart(runs_folder):
    text = "\n\n".join(f"the cat number {n} sat.\nit saw {n} mice." for n in range(200)).encode()
    app = upload(text, budget="steps", steps="50", pairs="true", start="random", size="tiny")
    whole(app.button(key="train").click().run())
    (run,) = runs.manager().runs()
    until(lambda: runs.settled(run))
    assert run.state == "finished", run.traceback
    assert {"mlm_loss", "nsp_accuracy"} <= set(run.latest("eval")["metrics"])
    assert sorted(path.name for path in (run.directory / "text").iterdir()) == ["dev.txt", "train.txt"]
    whole(app.run())
    assert {"NSP accuracy", "MLM loss"} <= metrics(app).keys()


def test_a_checkpoint_that_ships_can_be_looked_back_at_to_the_end_of_its_log(runs_folder):
    kept = snapshots.listed(CHECKPOINTS / "mini-en")
    app = open_page(part="Look back", past="mini-en", at="1")
    assert app.select_slider(key="at").options[:-1] == [f"{one.step:,}" for one in kept]
    log = (CHECKPOINTS / "mini-en" / LOG).read_text().splitlines()
    last = json.loads([line for line in log if '"step", "step"' in line][-1])
    assert app.select_slider(key="at").options[-1] == f"{last['step']:,}"


def log_reader(folder):
    import streamlit as st

    from sections.pretraining.trainings import logged

    st.session_state["events"] = logged(folder)


def test_a_log_that_cannot_be_read_is_said_on_the_page(tmp_path):
    step = b'{"event": "step", "step": 1}\n'
    for content, errors in (
        (step + b'{"event": "st', 0),  # killed while it wrote
        (step + b"[" * 100_000 + b"\n", 1),
        *((content, 1) for content in (b'["event"]\n', b'{"step": 1}\n', b"\xff\n")),
    ):
        (tmp_path / "training.jsonl").write_bytes(content)
        app = script(log_reader, args=(tmp_path,)).run()
        assert not app.exception and len(app.error) == errors
        assert app.session_state["events"] == ([] if errors else [json.loads(step)])
