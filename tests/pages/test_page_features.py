"""Features or fine-tuning: what the picture says is read, and what is said of recorded and running comparisons."""

import json
import statistics
import tomllib
from dataclasses import asdict
from functools import partial

import pytest

from minibert.experiments.compare import settings_of
from minibert.experiments.comparisons import COMPARISONS
from minibert.tasks import TASKS
from tests.hostile import HOSTILE
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, plain, text_of, title_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from tests.pages.recorded import comparison_record, write_records
from tests.waiting import until
from ui.lesson import Lesson, load_quiz

LESSON = Lesson("features")
open_page = partial(driver.open_page, "features")
PAPER = tomllib.loads((LESSON.folder / "paper.toml").read_text(encoding="utf-8"))


def test_the_paper_has_a_number_for_arms_of_ours_and_they_are_those_of_table_7():
    assert set(PAPER["values"]) <= set(COMPARISONS["features"].arms)
    assert PAPER["values"] == {
        "fine-tuned": 96.4, "embeddings": 91.0, "second-to-last": 95.6, "last": 94.9, "last-four-sum": 95.9,
        "last-four-concat": 96.1, "weighted": 95.5,
    }  # fmt: skip


def test_missing_results_are_said_with_the_command(results):
    app = open_page()
    assert "No results of this comparison" in text_of(app)
    assert any(block.value == "python -m minibert experiment features" for block in app.code)


def test_what_is_read_and_counted(results):
    app = open_page(**{"read-features": "last-four-concat"})  # a link from before there were tabs
    assert "BERT is frozen. Read: 4 layers side by side: 1,024 numbers a token; every token goes on." in text_of(app)
    numbers = {metric.label: metric.value for metric in app.metric}
    assert numbers["numbers trained"] == numbers["of them in the head"] != "0"
    app = open_page(asked="class", part="Which vectors are read")
    assert "[CLS], through the pooler" in text_of(app)
    assert figure(app, "stack") is not None


def test_recorded_results_are_averaged_and_compared(results):
    scores = {"fine-tuned": (0.60, 0.62, 0.61), "last": (0.50, 0.53, 0.51), "last-four-concat": (0.55, 0.56, 0.57)}
    write_records(
        results / "mini-en",
        "features",
        [comparison_record("features", arm, s, v) for arm, x in scores.items() for s, v in enumerate(x)],
    )
    app = open_page(part="In numbers")
    text = text_of(app)
    title = title_of(app, "scores-features")
    assert title == "Fine-tuned 61.0 · last four, concatenated 56.0"
    assert "Best frozen arm here: **last four, concatenated**, −5.0" in text
    assert "over 3 seeds" in text and "In the paper: last four, concatenated, −0.3." in text
    table = next(table.value for table in app.table if "sd" in table.value)
    assert list(table["ours, mean"]) == ["61.0", "51.3", "56.0"]
    assert table["sd"].iloc[1] == f"{statistics.stdev((50, 53, 51)):.1f}"
    assert list(table["paper"]) == ["96.4", "94.9", "96.1"]
    assert "<b>model" not in "".join(caption.value for caption in app.caption)


def test_what_fine_tuning_brings_is_guessed_first(results):
    scores = {"fine-tuned": (0.60, 0.62, 0.61), "last-four-concat": (0.55, 0.56, 0.57)}
    write_records(
        results / "mini-en",
        "features",
        [comparison_record("features", arm, s, v) for arm, x in scores.items() for s, v in enumerate(x)],
    )
    app = open_page()
    assert title_of(app, "scores-features") == "Last four, concatenated 56.0"
    app.button(key="gain-guess-0").click()
    assert title_of(whole(app.run()), "scores-features") == "Fine-tuned 61.0 · last four, concatenated 56.0"
    assert "Right: **over 3**" in text_of(app)


def test_records_of_other_settings_are_not_mixed_in(results):
    old = comparison_record("features", "last", 0, 0.1, settings={"epochs": 99})
    write_records(results / "mini-en", "features", [old, comparison_record("features", "last", 1, 0.5)])
    table = next(table.value for table in open_page(part="In numbers").table if "sd" in table.value)
    assert list(table["ours, mean"]) == ["50.0"] and list(table["seeds"]) == [1]


def test_the_better_checkpoint_comes_first_where_it_was_recorded(results):
    for start, score in (("mini-en", 0.5), ("minilm-en", 0.8)):
        write_records(results / start, "features", [comparison_record("features", "last", 0, score, start)])
    titles = [
        title_of(open_page(**link), "scores-features")
        for link in ({}, {"checkpoint": "mini-en"}, {"asked": "tagging", "set": "x"})
    ]
    assert titles == ["Last layer 80.0", "Last layer 50.0", "Last layer 50.0"]
    app = open_page(checkpoint="minilm-en", asked="class")
    assert any(one.value == "python -m minibert experiment pooling --model checkpoints/minilm-en" for one in app.code)


def test_a_broken_file_is_named(results):
    (results / "mini-en").mkdir()
    (results / "mini-en" / "features.jsonl").write_text("nonsense\n\n")
    assert any("line 1: not a record" in plain(box.value) for box in open_page().error)


@pytest.mark.slow
def test_any_text_is_text(results):
    app = open_page(part="Which vectors are read")
    for text in HOSTILE.values():
        app.text_input(key="text").set_value(text)
        assert_no_markup(whole(app.run()))


@pytest.mark.slow
def test_two_arms_run_and_their_bars_are_their_scores(results):
    from ui.runs import manager

    app = open_page(asked="class")
    app.selectbox(key="first-pooling").set_value("frozen-cls")
    app.selectbox(key="second-pooling").set_value("frozen-mean")
    app.button(key="run-two").click()
    whole(app.run())
    runs = [run for run in manager().runs() if run.kind.startswith("features/")]
    assert len(runs) == 2
    until(lambda: all(run.over for run in runs))
    assert [run.state for run in runs] == ["finished", "finished"], [run.error for run in runs]
    whole(app.run())
    scores = {round(100 * run.latest("done")["metrics"]["accuracy"], 6) for run in runs}
    assert {round(x, 6) for x in figure(app, "bars")["data"][0]["x"]} == scores


def test_every_section_is_placed_and_the_quiz_is_sound():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sections" / "features").glob("*.py"))
    assert all(f'"{heading}"' in source for heading in LESSON.sections)
    assert len(load_quiz(LESSON.folder / "quiz.toml")) >= 4


def test_what_is_said_of_names_is_not_said_of_sentences(results):
    names, sentences = (text_of(open_page(asked=asked, part="In numbers")) for asked in ("tagging", "class"))
    assert "Against the paper" in names and "## What came out" in names
    assert "Against the paper" not in sentences and "CoNLL-2003's" not in sentences


def test_a_run_of_the_readers_lands_on_the_recorded_ones(results, runs_folder, tmp_path):
    from ui.runs import manager

    write_records(results / "mini-en", "pooling", [comparison_record("pooling", "fine-tuned-mean", 0, 0.7)])
    predictor = spelling_predictor("classification", ["negative", "positive"])
    dev = TASKS["classification"].read(ROOT / "lessons" / "data" / "reviews" / "dev.tsv").examples[:12]
    run = finished_run(manager(), tmp_path, predictor, dev, kind="features/pooling/1", owner="me", title="mine")
    settings = settings_of(COMPARISONS["pooling"].values("fine-tuned-mean"), 3)
    started = {"event": "started", "settings": asdict(settings), "details": run.latest("started")["details"]}
    run.add([json.dumps({"number": 9, "time": run.created, **started})])
    stars = [
        trace
        for trace in figure(open_page(owner="me", asked="class"), "scores-pooling")["data"]
        if trace["marker"].get("symbol") == "star"
    ]
    assert [star["x"] for star in stars] == [[pytest.approx(100 * run.latest("eval")["metrics"]["accuracy"])]]
