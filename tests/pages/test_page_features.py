"""Features or fine-tuning: what the picture says is read, and what is said of recorded and running comparisons."""

import json
import re
import statistics
from dataclasses import asdict
from functools import partial

import pytest

from minibert.experiments.claims import tables
from minibert.experiments.compare import settings_of
from minibert.experiments.comparisons import COMPARISONS
from minibert.tasks import TASKS
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, text_of, title_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from tests.pages.recorded import comparison_record, write_records

open_page = partial(driver.open_page, "features")
NUMBER = re.compile(r"\d[\d,.]*\d|\d")
PAPER = tables()["features"]["column"][0]


def test_the_paper_has_a_number_for_arms_of_ours_and_they_are_those_of_table_7():
    assert set(PAPER["values"]) <= set(COMPARISONS["features"].arms)
    assert PAPER["values"] == {
        "fine-tuned": 96.4,
        "embeddings": 91.0,
        "second-to-last": 95.6,
        "last": 94.9,
        "last-four-sum": 95.9,
        "last-four-concat": 96.1,
        "weighted": 95.5,
    }


def test_what_is_read_and_counted(results):
    app = open_page(part="Which vectors are read", **{"read-features": "last-four-concat"})
    assert any(block.value == "python -m minibert experiment features" for block in app.code)  # nothing is recorded
    assert {"4", "1,024"} <= set(NUMBER.findall(text_of(app)))
    trained, of_the_head, *_rest = (metric.value for metric in app.metric)
    assert trained == of_the_head != "0"
    app = open_page(asked="class", part="Which vectors are read")
    assert figure(app, "stack") is not None
    for text in (EVERYTHING, ""):
        assert_no_markup(whole(app.text_input(key="text").set_value(text).run()))


def test_recorded_results_are_averaged_and_compared_and_the_gain_is_guessed_first(results):
    scores = {"fine-tuned": (0.60, 0.62, 0.61), "last": (0.50, 0.53, 0.51), "last-four-concat": (0.55, 0.56, 0.57)}
    old = comparison_record("features", "last", 0, 0.1, settings={"epochs": 99})  # other settings are not mixed in
    records = [comparison_record("features", arm, s, v) for arm, x in scores.items() for s, v in enumerate(x)]
    write_records(results / "mini-en", "features", [old, *records])
    app = open_page(part="In numbers")
    assert NUMBER.findall(title_of(app, "scores-features")) == ["61.0", "56.0"]
    assert {"5.0", "0.3"} <= set(NUMBER.findall(text_of(app)))  # the best frozen arm behind; in the paper
    table = next(table.value for table in app.table if "sd" in table.value)
    assert list(table["ours, mean"]) == ["61.0", "51.3", "56.0"]
    assert table["sd"].iloc[1] == f"{statistics.stdev((50, 53, 51)):.1f}"
    assert list(table["paper"]) == ["96.4", "94.9", "96.1"] and list(table["seeds"]) == [3, 3, 3]
    assert "<b>model" not in "".join(caption.value for caption in app.caption)
    app = driver.open_page("features")
    assert NUMBER.findall(title_of(app, "scores-features")) == ["56.0"]
    app = whole(app.button(key="gain-guess-0").click().run())
    assert NUMBER.findall(title_of(app, "scores-features")) == ["61.0", "56.0"]
    (results / "mini-en" / "features.jsonl").write_text("nonsense\n\n")
    assert open_page().error


def test_the_better_checkpoint_comes_first_where_it_was_recorded(results):
    for start, score in (("mini-en", 0.5), ("minilm-en", 0.8)):
        write_records(results / start, "features", [comparison_record("features", "last", 0, score, start)])
    links = (({}, "80.0"), ({"checkpoint": "mini-en"}, "50.0"), ({"asked": "tagging", "set": "x"}, "80.0"))
    for link, said in links:
        assert NUMBER.findall(title_of(open_page(**link), "scores-features")) == [said]
    app = open_page(checkpoint="minilm-en", asked="class")
    assert any(one.value == "python -m minibert experiment pooling --model checkpoints/minilm-en" for one in app.code)
    write_records(results / "mini-en", "pooling", [comparison_record("pooling", "frozen-cls", 0, 0.6)])
    app = open_page(checkpoint="minilm-en", asked="class")  # no dead end: another checkpoint has been measured
    app = whole(app.button(key="from-mini-en").click().run())
    assert NUMBER.findall(title_of(app, "scores-pooling")) == ["60.0"]


@pytest.mark.parametrize(("tuned", "right"), [((0.6, 0.62, 0.61), 0), ((0.5, 0.7, 0.57), 3), ((0.5, 0.51, 0.52), 2)])
def test_what_lies_within_the_spread_cannot_be_told(results, tuned, right):
    arms = {"fine-tuned": tuned, "last": (0.55, 0.56, 0.57)}
    write_records(
        results / "mini-en",
        "features",
        [comparison_record("features", arm, s, v) for arm, x in arms.items() for s, v in enumerate(x)],
    )
    app = driver.open_page("features")
    answer = app.button(key=f"gain-guess-{right}").label
    assert f"**{answer}**" in text_of(whole(app.button(key="gain-guess-0").click().run()))


def test_two_arms_are_asked_for(results, asked_for):
    app = open_page(asked="class")
    app.selectbox(key="first-pooling").set_value("frozen-cls")
    app.selectbox(key="second-pooling").set_value("frozen-mean")
    whole(app.button(key="run-two").click().run())
    for (_target, arguments, _options), arm in zip(asked_for, ("frozen-cls", "frozen-mean"), strict=True):
        limit = arguments[4].max_seconds
        assert arguments[4] == settings_of(COMPARISONS["pooling"].values(arm), 7, max_seconds=limit)


def test_a_run_of_the_readers_has_its_bar_and_lands_on_the_recorded_ones(results, runs_folder, tmp_path):
    from ui.runs import manager

    write_records(results / "mini-en", "pooling", [comparison_record("pooling", "fine-tuned-mean", 0, 0.7)])
    predictor = spelling_predictor("classification", ["negative", "positive"])
    dev = TASKS["classification"].read(ROOT / "lessons" / "data" / "reviews" / "dev.tsv").examples[:12]
    run = finished_run(manager(), tmp_path, predictor, dev, kind="features/pooling/1", owner="me", title="mine")
    settings = settings_of(COMPARISONS["pooling"].values("fine-tuned-mean"), 3)
    started = {"event": "started", "settings": asdict(settings), "details": run.latest("started")["details"]}
    run.add([json.dumps({"number": 9, "time": run.created, **started})])
    app, score = open_page(owner="me", asked="class"), 100 * run.latest("eval")["metrics"]["accuracy"]
    stars = [one for one in figure(app, "scores-pooling")["data"] if one["marker"].get("symbol") == "star"]
    assert [star["x"] for star in stars] == [[pytest.approx(score)]]
    assert figure(app, "bars")["data"][0]["x"] == [pytest.approx(score)]
