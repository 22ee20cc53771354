"""A reader's text is kept whatever it is."""

import pytest

from tests.hostile import EVERYTHING, HOSTILE
from tests.ui.driver import script
from ui.inputs import distinct


def app(multiline=False):
    import streamlit as st

    from ui.inputs import sentence_input
    from ui.text import literal

    text = sentence_input("text", ["The *first* one", "Second: <b>"], max_chars=1000, multiline=multiline)
    st.session_state["got"] = text
    st.markdown(literal(text))


def test_it_starts_with_the_first_example():
    run = script(app).run()
    assert run.session_state["got"] == "The *first* one" and "text" not in run.query_params


@pytest.mark.parametrize("multiline", [False, True])
@pytest.mark.parametrize("text", ["", EVERYTHING, HOSTILE["long"]], ids=["empty", "everything", "long"])
def test_any_text_is_kept_and_cut_for_use(text, multiline):
    run = script(app, kwargs={"multiline": multiline}).run()
    field = (run.text_area if multiline else run.text_input)[0]
    field.set_value(text).run()
    assert not run.exception
    assert run.session_state["text"] == text
    assert run.session_state["got"] == text[:1000]
    assert bool(run.info) is (len(text) > 1000)
    assert run.query_params.get("text") == (text if len(text) <= 500 else None)


def test_an_example_replaces_the_text():
    run = script(app).run()
    run.text_input[0].set_value("mine").run()
    assert run.pills[0].value is None
    run.pills[0].set_value(1).run()
    assert run.session_state["got"] == "Second: <b>" and run.text_input[0].value == "Second: <b>"
    assert run.query_params["text"] == "Second: <b>"


@pytest.mark.parametrize(("link", "text"), [("hello", "hello"), ("", ""), ("y" * 9000, "The *first* one")])
def test_a_link_brings_its_text(link, text):
    run = script(app)
    run.query_params["text"] = link
    run.run()
    assert run.session_state["got"] == text and not run.exception


def test_a_choice_and_a_pick_come_from_the_link_and_go_there():
    def choices():
        import streamlit as st

        from ui.inputs import choice, pick

        names = {"one": "the first", "two": "the second"}
        st.text(
            f"{choice('a', 'A', names)} {choice('b', 'B', names, wrap=True)} {pick('c', 'C', ['x', 'y'], width=99)}"
        )

    app = script(choices)
    app.query_params["a"], app.query_params["b"], app.query_params["c"] = "two", "three", "2"
    app.run()
    assert app.text[0].value == "two one 1"
    app.segmented_control(key="a").set_value("one").run()
    app.pills(key="b").set_value("two").run()
    assert app.text[0].value == "one two 1" and app.query_params == {"b": "two", "c": "2"}


def test_drawing_again_changes_the_seed():
    def seeded():
        import streamlit as st

        from ui.inputs import seed_input

        st.text(seed_input(7))

    app = script(seeded).run()
    assert app.text[0].value == "7"
    app.button(key="draw").click().run()
    assert app.text[0].value == "8"
    app.number_input(key="seed").set_value(999_999).run()
    app.button(key="draw").click().run()
    assert app.text[0].value == "0"


def test_names_that_repeat_are_told_apart_and_the_oldest_keeps_its_own():
    assert distinct({"c": "x", "b": "y", "a": "x"}) == {"c": "x (2)", "b": "y", "a": "x"}
    assert list(distinct({"c": "x", "b": "y", "a": "x"})) == ["c", "b", "a"]
    named = distinct({"c": "x", "b": "x (2)", "a": "x"})  # by hand, as the second was
    assert named == {"c": "x (3)", "b": "x (2)", "a": "x"}


def test_examples_that_begin_alike_are_told_apart():
    from ui.inputs import example_labels

    alike = "anna and ben were good friends. later anna gave the ball to ben. now {} has it."
    labels = example_labels([alike.format("anna"), alike.format("ben"), "a short one", "b " * 60])
    assert len(set(labels)) == 4 and labels[2] == "a short one" and len(labels[3]) < 120
