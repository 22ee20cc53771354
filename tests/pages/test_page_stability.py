"""Why runs differ: the first steps, what recorded runs tell, and a grid of one's own."""

from functools import partial

import pytest

from minibert.experiments.comparisons import COMPARISONS, EPOCHS, RATES, cell
from minibert.experiments.seeds import seeds_needed
from tests.pages import driver
from tests.pages.driver import ROOT, figure, text_of, title_of, whole
from tests.pages.recorded import comparison_record, write_records
from tests.waiting import until
from ui.lesson import Lesson, load_quiz

LESSON = Lesson("stability")
open_page = partial(driver.open_page, "stability")


def write(folder, scores: dict[str, tuple[float, ...]]) -> None:
    runs = ((arm, seed, score) for arm, values in scores.items() for seed, score in enumerate(values))
    write_records(folder / "mini-en", "stability", [comparison_record("stability", *run) for run in runs])


def test_the_first_steps_are_said_in_numbers(results):
    text = text_of(open_page(part="The first steps"))
    assert "the first step is 3.16 times as long as it should be, step 12 6.57 times" in text
    assert "and step 100 still 3.24 times" in text
    assert "step 200 still 2.35 times" in text_of(open_page(steps=200))


def test_without_records_the_page_says_how_to_make_them(results):
    app = open_page()
    assert "No results of this comparison" in text_of(app)
    assert any(block.value == "python -m minibert experiment stability" for block in app.code)


def test_failures_and_spread_are_counted(results):
    good, bad = cell(EPOCHS[0], RATES[0], True), cell(EPOCHS[0], RATES[0], False)
    write(results, {good: (0.60, 0.64, 0.62), bad: (0.50, 0.50, 0.70)})
    app = open_page(part="What came out")
    text = text_of(app)
    title = title_of(app, "recorded")
    assert title == "Runs that failed: with bias correction 0 of 3, without 2 of 3"
    assert "**with bias correction**: 0 of 3 runs failed; those that learned scatter by 2.0 points" in text
    assert "**without**: 2 of 3 runs failed. A run counts" in text
    dots = [trace for trace in figure(app, "recorded")["data"] if trace["mode"] == "markers"]
    assert sorted(y for trace in dots for y in trace["y"]) == pytest.approx([50.0, 50.0, 60.0, 62.0, 64.0, 70.0])


def test_what_happens_without_correction_is_guessed_first(results):
    good, bad = cell(EPOCHS[0], RATES[0], True), cell(EPOCHS[0], RATES[0], False)
    write(results, {good: (0.60, 0.64, 0.62), bad: (0.50, 0.50, 0.70)})
    app = open_page()
    assert title_of(app, "recorded") == "Runs that failed: with bias correction 0 of 3"
    app.button(key="failed-guess-2").click()
    assert title_of(whole(app.run()), "recorded").endswith("0 of 3, without 2 of 3")
    assert "Right: **two thirds**" in text_of(app)


def test_two_settings_are_compared_and_the_calculator_starts_from_them(results):
    a, b = cell(EPOCHS[0], RATES[0], True), cell(EPOCHS[0], RATES[0], False)
    write(results, {a: (0.60, 0.62, 0.61), b: (0.70, 0.72, 0.71)})
    app = open_page(part="How many seeds")
    text = text_of(app)
    assert "B − A: +10.0 points" in text and "tell the settings apart" in text
    assert f"needs {seeds_needed(10.0, 1.0)} runs of each setting" in text
    app.slider[-2].set_value(1.0)
    assert f"needs {seeds_needed(1.0, 1.0)} runs of each setting" in text_of(whole(app.run()))


def test_too_many_runs_are_not_offered(results):
    app = open_page()
    app.slider(key="seeds").set_value(5)
    app.button_group(key="rates").set_value(list(RATES))
    app = whole(app.run())
    assert app.button(key="start").disabled and "At most 12 runs at once" in text_of(app)


@pytest.mark.slow
def test_a_grid_of_ones_own_fills_and_can_be_stopped(results):
    from ui.runs import manager

    app = open_page()
    app.slider(key="seeds").set_value(1)
    app.button(key="start").click()
    whole(app.run())
    runs = [run for run in manager().runs() if run.kind.startswith("stability/")]
    assert len(runs) == 2
    until(lambda: all(run.over for run in runs))
    whole(app.run())
    dots = [trace for trace in figure(app, "live")["data"] if trace["mode"] == "markers"]
    scores = sorted(100 * run.latest("done")["metrics"]["accuracy"] for run in runs)
    assert sorted(y for trace in dots for y in trace["y"]) == pytest.approx(scores)
    app.slider(key="seeds").set_value(2)
    app.button(key="start").click()
    whole(app.run())
    app.button(key="stop-all").click()
    whole(app.run())
    until(lambda: all(run.over for run in manager().runs()))
    assert any(run.state == "cancelled" for run in manager().runs())


def test_every_section_is_placed_and_the_quiz_is_sound():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sections" / "stability").glob("*.py"))
    assert all(f'"{heading}"' in source for heading in LESSON.sections)
    assert len(load_quiz(LESSON.folder / "quiz.toml")) >= 4
    assert COMPARISONS["stability"].seeds >= 5
