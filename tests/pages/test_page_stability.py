"""Why runs differ: the first steps, what recorded runs tell, and a grid of one's own."""

import re
from functools import partial

import pytest

from minibert.experiments.comparisons import EPOCHS, RATES, cell
from minibert.experiments.seeds import seeds_needed
from tests.pages import driver
from tests.pages.driver import figure, text_of, title_of, whole
from tests.pages.recorded import comparison_record, write_records
from tests.waiting import until

open_page = partial(driver.open_page, "stability")


def write(folder, scores: dict[str, tuple[float, ...]]) -> None:
    runs = ((arm, seed, score) for arm, values in scores.items() for seed, score in enumerate(values))
    write_records(folder / "mini-en", "stability", [comparison_record("stability", *run) for run in runs])


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+\.\d+|\d+", text)


def test_the_first_steps_are_said_in_numbers(results):
    steps = partial(open_page, part="The first steps")
    assert {"3.16", "6.57", "3.24"} <= set(numbers(text_of(steps())))
    assert "2.35" in numbers(text_of(steps(steps=200)))


def test_without_records_the_page_says_how_to_make_them_and_offers_not_too_many_runs(results):
    app = open_page()
    assert any(block.value == "python -m minibert experiment stability" for block in app.code)
    app.slider(key="seeds").set_value(5)
    app = whole(app.button_group(key="rates").set_value(list(RATES)).run())
    assert app.button(key="start").disabled


def test_failures_and_spread_are_counted_and_guessed_first(results):
    good, bad = cell(EPOCHS[0], RATES[0], True), cell(EPOCHS[0], RATES[0], False)
    write(results, {good: (0.60, 0.64, 0.62), bad: (0.50, 0.50, 0.70)})
    app = open_page(part="What came out")
    assert numbers(title_of(app, "recorded")) == ["0", "3", "2", "3"]
    assert "2.0" in numbers(text_of(app))  # how far those scatter that learned
    dots = [trace for trace in figure(app, "recorded")["data"] if trace["mode"] == "markers"]
    assert sorted(y for trace in dots for y in trace["y"]) == pytest.approx([50.0, 50.0, 60.0, 62.0, 64.0, 70.0])
    app = open_page()
    assert numbers(title_of(app, "recorded")) == ["0", "3"]
    app = whole(app.button(key="failed-guess-2").click().run())
    assert numbers(title_of(app, "recorded")) == ["0", "3", "2", "3"]
    assert "**two thirds**" in text_of(app)


def test_two_settings_are_compared_and_the_calculator_starts_from_them(results):
    a, b = cell(EPOCHS[0], RATES[0], True), cell(EPOCHS[0], RATES[0], False)
    write(results, {a: (0.60, 0.62, 0.61), b: (0.70, 0.72, 0.71)})
    app = open_page(part="How many seeds")
    assert {"10.0", str(seeds_needed(10.0, 1.0))} <= set(numbers(text_of(app)))
    app.slider[-2].set_value(1.0)
    assert str(seeds_needed(1.0, 1.0)) in numbers(text_of(whole(app.run())))


@pytest.mark.release
@pytest.mark.trains
def test_a_grid_of_ones_own_fills_and_can_be_stopped(results, monkeypatch):
    from ui.runs import manager

    monkeypatch.setattr("sections.stability.own_grid.SECONDS_AT_MOST", 4)
    app = open_page()
    app.slider(key="seeds").set_value(1)
    whole(app.button(key="start").click().run())
    runs = [run for run in manager().runs() if run.kind.startswith("stability/")]
    assert len(runs) == 2
    until(lambda: all(run.over for run in runs))
    whole(app.run())
    dots = [trace for trace in figure(app, "live")["data"] if trace["mode"] == "markers"]
    scores = sorted(100 * run.latest("done")["metrics"]["accuracy"] for run in runs)
    assert sorted(y for trace in dots for y in trace["y"]) == pytest.approx(scores)
    app.slider(key="seeds").set_value(2)
    whole(app.button(key="start").click().run())
    whole(app.button(key="stop-all").click().run())
    until(lambda: all(run.over for run in manager().runs()))
    assert any(run.state == "cancelled" for run in manager().runs())
