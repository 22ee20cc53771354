"""Why this answer: what the page shows is what minibert computes, for any text."""

from functools import partial

import numpy as np
import pytest

from minibert.inside.attribution import Case, agreement, attributions, completeness_errors, deletion_test
from minibert.tasks import TASKS
from tests.hostile import HOSTILE, texts_in_turn
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, link, text_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from ui.classifiers import EVERYONE, RECIPES
from ui.lesson import Lesson, load_quiz

LESSON = Lesson("attribution")
TEXT = "not a dull film"
open_page = partial(driver.open_page, "attribution")


def test_without_a_model_it_offers_to_train_one(runs_folder):
    app = open_page()
    assert app.button(key="train-reviews")
    assert all(section in text_of(app) for section in ("The question", "Why they differ"))
    assert not app.get("plotly_chart")


@pytest.fixture(scope="module")
def predictor():
    return spelling_predictor("classification", ["negative", "positive"])


@pytest.fixture(scope="module")
def trained(runs_folder, predictor, tmp_path_factory):
    """The class's own models, made without training."""
    from ui.runs import manager

    for recipe, model in zip(
        RECIPES,
        (predictor, predictor, spelling_predictor("pair", ["contradiction", "entailment", "neutral"])),
        strict=True,
    ):
        dev = TASKS[recipe.task].read(ROOT / "lessons" / "data" / recipe.name / "dev.tsv").examples[:12]
        if recipe.name == "reviews":
            dev[0] = type(dev[0])("a bad film", "negative")
        folder = tmp_path_factory.mktemp(recipe.name)
        finished_run(manager(), folder, model, dev, kind=recipe.kind, owner=EVERYONE, title=recipe.title)


def grid_of(app) -> np.ndarray:
    """What hovering over the grid says: (words, methods)."""
    cells = figure(app, "grid")["data"][0]["customdata"]
    return np.array([[float(cell[1]) for cell in row] for row in cells])


def test_the_answer_and_every_value_are_miniberts(trained, predictor):
    app = open_page(text=TEXT, instead="cut", steps=8)
    case = Case.of(predictor, TEXT)
    answer = predictor.predict([TEXT])[0]
    assert f"says **{answer['label']}**" in text_of(app)
    values = attributions(case, "cut", steps=8)
    assert grid_of(app) == pytest.approx(np.array(list(values.values())).T, abs=1e-5)
    shown = figure(app, "agreement")["data"][0]["z"]
    assert np.array(shown, dtype=float) == pytest.approx(agreement(values), abs=1e-5)
    lines = {line.get("name"): line["y"] for line in figure(app, "deletion")["data"]}
    test = deletion_test(case, values, "cut")
    assert lines["Leave one out"] == pytest.approx(test.methods["leave_one_out"], abs=1e-5)
    assert lines["random order"] == pytest.approx(test.random.mean(0), abs=1e-5)
    error = completeness_errors(case, "cut", [8], "riemann_middle")[0]
    assert f"{error:.2g}" in text_of(app)
    assert f"{values['integrated'][1]:+.2f}" in html_of(app)


def test_the_other_class_turns_the_signs(trained, predictor):
    case = Case.of(predictor, TEXT)
    other = next(label for label in predictor.labels if label != case.label)
    one, two = grid_of(open_page(text=TEXT)), grid_of(open_page(text=TEXT, **{"class": other}))
    assert two[:, :4] == pytest.approx(-one[:, :4], abs=1e-4)  # two classes: the log-odds change sign
    assert two[:, 4] == pytest.approx(one[:, 4])  # rollout does not look at the class


def test_what_is_chosen_is_in_the_link(trained):
    app = open_page(text=TEXT, instead="pad", method="shapley", steps=64)
    assert (link(app, "instead"), link(app, "method"), link(app, "steps")) == ("pad", "shapley", "64")
    app.select_slider(key="steps").set_value(4)
    whole(app.run())
    assert link(app, "steps") == "4"
    assert open_page(text=TEXT, instead="hole", method="no", steps=7, model="x").select_slider(key="steps").value == 32


@texts_in_turn
def test_any_text_is_text(trained, names):
    app = open_page()
    for name in names:
        app.text_input(key="text").set_value(HOSTILE[name])
        assert_no_markup(whole(app.run()))


def test_a_long_text_is_read_in_part(trained):
    app = open_page()
    app.text_input(key="text").set_value("a b " * 100)
    whole(app.run())
    assert any("first 30 words" in caption.value for caption in app.caption)
    assert grid_of(app).shape == (30, 5)


def test_chinese_and_pairs_are_explained(trained):
    app = open_page(model="reviews-zh", zh="很好 ok")
    assert grid_of(app).shape == (3, 5)  # two characters and a word
    app = open_page(model="pairs", a="a dog ran", b="no dog")
    assert grid_of(app).shape == (5, 5)
    assert "flex-basis: 100%" in html_of(app)  # the second text begins a line


def test_several_texts_are_tested(trained):
    app = open_page()
    assert figure(app, "falls") is None
    app.button(key="several").click()
    whole(app.run())
    drawn = figure(app, "falls")
    assert drawn["layout"]["yaxis"]["ticktext"][-1] == "random order"


def test_every_section_is_on_the_page_and_the_quiz_is_sound(trained):
    app = open_page()
    assert all(section in text_of(app) for section in LESSON.sections)
    assert len(load_quiz(ROOT / "lessons" / "attribution" / "quiz.toml")) >= 4
