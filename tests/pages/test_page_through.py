"""One sentence through BERT, without a browser."""

import re

import pytest

from tests.hostile import EVERYTHING
from tests.pages.driver import assert_no_markup, link, open_page, plain, sent, text_of, whole
from ui.model_cache import load
from ui.model_registry import FRONT_PAGE


@pytest.fixture(autouse=True)
def models_are_there():
    for name in FRONT_PAGE:
        load(name)


def legend(app) -> set[str]:
    """What the picture's legend names."""
    return set(sent(app)["words"]["legend"])


def test_it_opens_with_the_numbers_of_its_sentence_and_takes_another():
    app = open_page("through", stage=3)
    assert "**6 × 12**" in text_of(app) and f"{72 * 11**2:,}" in text_of(app)
    assert "30,522" in text_of(app)
    whole(app.text_input(key="text").set_value("She walked home.").run())
    assert "stage" not in app.query_params  # it rises from the letters
    for text in (EVERYTHING, ""):
        app.text_input(key="text").set_value(text)
        assert_no_markup(whole(app.text_input(key="next").set_value(text).run()))


def test_a_link_opens_model_stage_and_blank():
    app = open_page("through", text="one two three", next="four", blank=2, model="mini-en", stage=3, framed=2)
    assert link(app, "framed") == "2"
    assert link(app, "model") == "mini-en" and link(app, "stage") == "3" and link(app, "blank") == "2"
    assert "**4 × 4**" in text_of(app) and "segments" in legend(app)
    app = open_page("through", model="nobody", stage="x")
    assert legend(app) == {"mask", "strip", "heads", "line", "circle", "box"}  # there is no second sentence
    assert "model" not in app.query_params and "stage" not in app.query_params


def test_three_models_side_by_side():
    app = open_page("through", part="Three models", text="She walked home.", next="")
    assert list(app.table[0].value["model"])[1:] == ["mini-en", "minilm-en"]
    assert all("guesses" in model for model in sent(app)["models"])
    app = open_page("through", text="我喜欢自然语言。", model="mini-zh", part="Three models")
    assert list(app.table[0].value["model"])[1:] == ["mini-zh"]  # which has read some Chinese


def test_the_picture_above_an_open_question_does_not_answer_it():
    app = open_page("through", part="Three models", told=())
    assert not app.table and not any("guesses" in model for model in sent(app)["models"])
    whole(app.button(key="expects-guess-0").click().run())
    assert app.table and all(model["guesses"] for model in sent(app)["models"])
    for other in ({"part": "The code"}, {"part": "Three models", "text": "She unwrapped it.", "blank": 2}):
        app = open_page("through", told=(), **other)  # where nothing is asked: of several pieces no one guesses one
        assert all(model["guesses"] for model in sent(app)["models"])


def test_a_long_text_is_read_whole_and_beyond_what_a_model_has_learned_it_says_so():
    app = open_page("through", text="the dog " * 240)
    assert {model["count"] for model in sent(app)["models"]} == {482} and not app.info
    (warned,) = (plain(box.value) for box in app.warning)
    assert "mini-en" in warned and {"128", "482"} <= set(re.findall(r"\d+", warned))
