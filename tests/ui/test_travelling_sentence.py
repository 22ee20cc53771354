"""The sentence a reader types goes with them; what a link says counts for more."""

from functools import partial

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages.driver import link
from tests.ui import driver
from ui.inputs import sentence_input
from ui.languages import language_of
from ui.model_cache import language_read
from ui.model_widgets import WELL_READ, model_choice


def opened(typed: str = "", **query) -> AppTest:
    """A page with a field whose sentence travels and one whose does not. typed: on the page before."""

    def page():
        examples = ["猫在睡觉。", "狗叫了。"] if st.checkbox("zh", key="zh") else ["One.", "Two."]
        sentence_input("text", examples, default="One.", travels=True)
        sentence_input("stays", ["Here."])

    return driver.opened(page, session={"_typed": typed} if typed else {}, **query)


def test_what_is_typed_goes_along_and_stands_in_the_link():
    first = opened()
    first.text_input(key="stays").set_value("Not this.").run()
    assert "_typed" not in first.session_state
    first.text_input(key="text").set_value("My dog\u00a0barked <b>.").run()
    second = opened(first.session_state["_typed"])
    assert second.text_input(key="text").value == "My dog barked <b>."
    assert second.text_input(key="stays").value == "Here."
    assert link(second, "text") == "My dog barked <b>."
    assert opened("My dog barked.", text="From the link.").text_input(key="text").value == "From the link."


def test_examples_of_another_language_replace_an_example_and_nothing_else():
    app = opened()
    app.checkbox(key="zh").check().run()
    assert app.text_input(key="text").value == "猫在睡觉。"
    assert link(app, "text") == "猫在睡觉。"  # the link's default stays what it always was
    app.checkbox(key="zh").uncheck().run()
    assert app.text_input(key="text").value == "One."
    app.text_input(key="text").set_value("My own.").run()
    app.checkbox(key="zh").check().run()
    assert app.text_input(key="text").value == "My own."


def test_the_language_is_that_of_most_letters_and_a_model_s_that_of_its_vocabulary():
    texts = {"": "en", "…!": "en", "Ein Bär": "en", "我爱北京": "zh", "BERT 是模型。": "en", "用BERT学中文": "en"}
    assert {text: language_of(text) for text in texts} == texts
    assert [language_read(name) for name in ("mini-en", "minilm-en", "mini-zh")] == ["en", "en", "zh"]


@pytest.mark.parametrize(
    ("typed", "query", "name"),
    [("我爱北京。", {}, "mini-zh"), ("我爱北京。", {"layer": "2"}, WELL_READ), ("I love it.", {}, WELL_READ)],
)
def test_a_chinese_sentence_brings_a_model_that_reads_it_and_the_link_says_so(typed, query, name):
    app = driver.opened(partial(model_choice, fill=True, default=WELL_READ), session={"_typed": typed}, **query)
    assert app.session_state["got"] == name
    assert "model" not in app.query_params if name == WELL_READ else link(app, "model") == name
