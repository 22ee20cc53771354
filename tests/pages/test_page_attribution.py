"""Why this answer: what the page shows is what minibert computes, for any text."""

from functools import partial

import numpy as np
import pytest

from minibert.inside.explanations.attributed_blanks import AttributedBlank
from minibert.inside.explanations.attribution import Case, agreement, attributions, completeness_errors, deletion_test
from minibert.tasks import TASKS
from sections.attribution import deletion
from sections.attribution.deletion import with_blank
from sections.attribution.subject import USUAL_GUESSER, read
from tests.hostile import HOSTILE
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, html_of, link, plain, text_of, whole
from tests.pages.finished_runs import finished_run, spelling_predictor
from tests.ui.driver import opened
from ui.classifiers import EVERYONE, RECIPES
from ui.lesson import Lesson
from ui.model_cache import load
from ui.model_registry import model_named, title_of
from ui.text import Signed

TEXT = "not a dull film"
open_page = partial(driver.open_page, "attribution", told=["strongest"])
SLOPE = "Where the slope misleads"


def grid_of(app) -> np.ndarray:
    """What hovering over the grid says: (words, methods)."""
    cells = figure(app, "grid")["data"][0]["customdata"]
    return np.array([[float(cell[1]) for cell in row] for row in cells])


def test_without_a_classifier_a_guess_is_explained_and_training_offered(runs_folder, monkeypatch):
    from ui.runs import manager

    monkeypatch.setattr(manager(), "_runs", {})  # whatever has been tested before
    app = driver.open_page("attribution")
    assert app.button(key="train-reviews")
    assert {note["text"] for note in figure(app, "grid")["layout"]["annotations"]} == {"?"}
    values = grid_of(whole(app.button(key="strongest-guess-0").click().run()))
    loaded = load(USUAL_GUESSER)
    guess = AttributedBlank.at(loaded.model, loaded.tokenizer, app.text_input(key="blank").value)
    assert f"**{guess.label}** in the blank" in text_of(app)
    assert values == pytest.approx(np.array(list(attributions(guess).values())).T, abs=1e-5)
    strongest = [guess.words[row].text for row in abs(values).argmax(0)]
    most = max(strongest, key=strongest.count)
    assert f"**{most if strongest.count(most) >= 3 else 'none: they do not agree'}**" in text_of(app)
    app = open_page(model="blank-mini-en", blank="She sat down.")
    assert app.info and not app.get("plotly_chart")  # one blank is needed
    assert grid_of(whole(app.text_input(key="blank").set_value("She [MASK] down.").run())).shape == (2, 5)


def test_the_deletion_test_of_guesses_takes_texts_of_ours(runs_folder, monkeypatch):
    monkeypatch.setattr(deletion, "SEVERAL", 2)
    monkeypatch.setattr(deletion, "SHORT", 6)
    monkeypatch.setattr(deletion, "texts", lambda kind: ("A dog ran home.", "The cat sat on the mat."))
    app = open_page(part="The deletion test", model="blank-mini-en")
    assert figure(app, "falls") is None
    drawn = figure(whole(app.button(key="several").click().run()), "falls")
    assert len(drawn["data"][0]["x"]) == 2 and drawn["layout"]["yaxis"]["ticktext"][-1] == "random order"


def test_the_longest_word_is_hidden():
    assert with_blank("A dog barked, twice.") == "A dog [MASK], twice."
    assert with_blank("很好吃") == "很[MASK]吃"


@pytest.fixture(scope="module")
def predictor(runs_folder, tmp_path_factory):
    """The class's own models, made without training; that of reviews."""
    from ui.runs import manager

    predictor = spelling_predictor("classification", ["negative", "positive"])
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
    return predictor


def test_a_text_that_the_class_s_model_cannot_read_leads_to_the_one_that_reads_it(predictor):
    app = opened(lambda: read(Lesson("attribution")), model="reviews", text="这部电影很好看")
    assert app.warning
    assert whole(app.button(key="model-reader").click().run()).selectbox(key="model").value == "reviews-zh"


def test_the_answer_and_every_value_are_miniberts(predictor):
    app = open_page(text=TEXT, instead="cut", steps=8)
    case = Case.of(predictor, TEXT)
    answer = predictor.predict([TEXT])[0]
    assert f"says **{answer['label']}**" in text_of(app)
    values = attributions(case, "cut", steps=8)
    assert grid_of(app) == pytest.approx(np.array(list(values.values())).T, abs=1e-5)
    app = open_page(text=TEXT, instead="cut", steps=8, part="Do they agree?")
    shown = figure(app, "agreement")["data"][0]["z"]
    assert np.array(shown, dtype=float) == pytest.approx(agreement(values), abs=1e-5)
    app = open_page(text=TEXT, instead="cut", steps=8, part="The deletion test")
    lines = {line.get("name"): line["y"] for line in figure(app, "deletion")["data"]}
    test = deletion_test(case, values, "cut")
    assert lines["Leave one out"] == pytest.approx(test.methods["leave_one_out"], abs=1e-5)
    assert lines["random order"] == pytest.approx(test.random.mean(0), abs=1e-5)
    app = open_page(text=TEXT, instead="cut", steps=8, part=SLOPE)
    error = completeness_errors(case, "cut", [8], "riemann_middle")[0]
    assert f"{error:.2g}" in text_of(app)
    assert f"{Signed(values['integrated'][1]):+.2f}" in html_of(
        open_page(text=TEXT, instead="cut", steps=8, part="One method")
    )


def test_what_cannot_be_read_is_said_of_the_classifier_that_answers(predictor):
    from ui.classifiers import shared_run

    run = shared_run("reviews-zh")
    assert model_named(run.id).directory == run.result
    said = " ".join(box.value for box in open_page(zh="ꙮ ꙮ ꙮ", model="reviews-zh").warning)
    assert title_of(run.id) in plain(said) and run.title in title_of(run.id)


def test_the_other_class_turns_the_signs(predictor):
    case = Case.of(predictor, TEXT)
    other = next(label for label in predictor.labels if label != case.label)
    one, two = grid_of(open_page(text=TEXT)), grid_of(open_page(text=TEXT, **{"class": other}))
    assert two[:, :4] == pytest.approx(-one[:, :4], abs=1e-4)  # two classes: the log-odds change sign
    assert two[:, 4] == pytest.approx(one[:, 4])  # rollout does not look at the class


def test_what_is_chosen_is_in_the_link(predictor):
    app = open_page(text=TEXT, instead="pad", method="shapley", steps=8)
    assert (link(app, "instead"), link(app, "method"), link(app, "steps")) == ("pad", "shapley", "8")
    app = open_page(text=TEXT, steps=8, part=SLOPE)
    app.select_slider(key="steps").set_value(4)
    assert link(whole(app.run()), "steps") == "4"
    assert open_page(text=TEXT, steps=4, method="no").session_state["method"] == "integrated"
    app = open_page(text=TEXT, instead="hole", steps=7, model="x", part=SLOPE)
    assert app.select_slider(key="steps").value == 32


FEW = f"{HOSTILE['nul']} {HOSTILE['script']} *bold* <b>b</b>"  # of more than ten words Shapley values take long


@pytest.mark.parametrize("text", [FEW, ""], ids=["few", "nothing"])
def test_any_text_is_text(predictor, text):
    app = open_page(steps=4, part=SLOPE)
    assert_no_markup(whole(app.text_input(key="text").set_value(text).run()))


def test_chinese_and_pairs_are_explained(predictor):
    app = open_page(model="reviews-zh", zh="很好 ok")
    assert grid_of(app).shape == (3, 5)  # two characters and a word
    app = open_page(model="pairs", a="a dog ran", b="no dog")
    assert grid_of(app).shape == (5, 5)
    assert "flex-basis: 100%" in html_of(app)  # the second text begins a line


@pytest.mark.release
def test_a_long_text_is_read_in_part(predictor):
    app = open_page(steps=4, text="a b " * 100, part=SLOPE)
    assert app.caption and grid_of(app).shape == (30, 5)
