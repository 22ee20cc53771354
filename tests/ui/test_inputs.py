"""A reader's text is kept whatever it is."""

from functools import partial

import pytest

from tests.hostile import EVERYTHING, HOSTILE
from tests.ui import driver
from ui.inputs import choice, distinct, example_labels, pick, seed_input, sentence_input

EXAMPLES = ["The *first* one", "Second: <b>"]


def opened(multiline=False, **link):
    return driver.opened(partial(sentence_input, max_chars=1000, multiline=multiline), "text", EXAMPLES, **link)


@pytest.mark.parametrize("multiline", [False, True])
@pytest.mark.parametrize("text", ["", EVERYTHING, HOSTILE["long"]], ids=["empty", "everything", "long"])
def test_any_text_is_kept_and_cut_for_use(text, multiline):
    run = opened(multiline)
    field = (run.text_area if multiline else run.text_input)[0]
    field.set_value(text).run()
    assert not run.exception
    assert run.session_state["text"] == text
    assert run.session_state["got"] == text[:1000]
    assert bool(run.info) is (len(text) > 1000)
    assert run.query_params.get("text") == (text if len(text) <= 500 else None)


def test_underscores_are_a_blank_where_blanks_are_filled():
    text = "A _ and a __ stay. The ___ barked, the __________."
    for blanks, said in ((False, text), (True, "A _ and a __ stay. The [MASK] barked, the [MASK].")):
        run = driver.opened(partial(sentence_input, blanks=blanks), "text", [], text=text)
        assert run.session_state["got"] == said and run.session_state["text"] == text


def test_an_example_stands_there_first_and_another_replaces_the_text():
    run = opened()
    assert run.session_state["got"] == EXAMPLES[0] and "text" not in run.query_params
    run.text_input[0].set_value("mine").run()
    assert run.pills[0].value is None
    run.pills[0].set_value(1).run()
    assert run.session_state["got"] == run.text_input[0].value == run.query_params["text"] == EXAMPLES[1]


def test_a_choice_that_the_browser_reports_late_does_not_replace_what_was_typed():
    app = driver.opened(sentence_input, "text", ["the dog barked", "two"])
    states = app._tree.get_widget_states()  # as of a browser that has not drawn yet what the next run says
    app.text_input(key="text").set_value("mine").run()
    (late,) = (one for one in states.widgets if one.id.endswith("-example"))
    assert list(late.string_array_value.data) == ["the dog barked"]
    for clicked, text in ((0, "mine"), (1, "two")):  # another one than before can only be a click
        states = app._tree.get_widget_states()
        late.string_array_value.data[:] = [("the dog barked", "two")[clicked]]
        states.widgets.append(late)
        app._run(states)
        assert app.text_input(key="text").value == text


@pytest.mark.parametrize(("link", "text"), [("hello", "hello"), ("", ""), ("y" * 9000, "y" * 1000)])
def test_a_link_brings_its_text(link, text):
    assert opened(text=link).session_state["got"] == text


def test_a_choice_and_a_pick_come_from_the_link_and_go_there():
    def choices():
        names = {"one": "the first", "two": "the second"}
        return choice("a", "A", names), choice("b", "B", names, wrap=True), pick("c", "C", ["x", "y"], width=99)

    app = driver.opened(choices, a="two", b="three", c="2")
    assert app.session_state["got"] == ("two", "one", 1)
    app.segmented_control(key="a").set_value("one").run()
    app.pills(key="b").set_value("two").run()
    assert app.session_state["got"] == ("one", "two", 1) and app.query_params == {"b": "two", "c": "2"}


def test_drawing_again_changes_the_seed():
    app = driver.opened(seed_input, 7)
    assert app.session_state["got"] == 7
    app.button(key="draw").click().run()
    assert app.session_state["got"] == 8
    app.number_input(key="seed").set_value(999_999).run()
    app.button(key="draw").click().run()
    assert app.session_state["got"] == 0


def test_names_and_examples_that_are_alike_are_told_apart_and_the_oldest_name_is_kept():
    named = distinct({"c": "x", "b": "y", "a": "x"})
    assert list(named.items()) == [("c", "x (2)"), ("b", "y"), ("a", "x")]
    named = distinct({"c": "x", "b": "x (2)", "a": "x"})  # by hand, as the second was
    assert named == {"c": "x (3)", "b": "x (2)", "a": "x"}
    alike = "anna and ben were good friends. later anna gave the ball to ben. now {} has it."
    labels = example_labels([alike.format("anna"), alike.format("ben"), "a short one", "b " * 60])
    assert len(set(labels)) == 4 and labels[2] == "a short one" and len(labels[3]) < 120
