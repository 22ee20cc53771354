"""Projector mode belongs to one session, is in its link, and outlives a change of page."""

import json

from tests.ui.driver import script
from ui.lesson import MOST_PROJECTED, _in_short


def app():
    import plotly.graph_objects as go
    import streamlit as st

    from ui.figures import figure
    from ui.projector import projecting, projector_switch
    from ui.source import show_source

    projector_switch()
    st.write("on a wall" if projecting() else "at a desk")
    figure(go.Figure(go.Bar(y=[1])), "One bar.", "fig")
    show_source(projecting)


def opened(**query):
    reader = script(app)
    for key, value in query.items():
        reader.query_params[key] = value
    return reader.run()


def layout(reader) -> dict:
    return json.loads(reader.get("plotly_chart")[0].proto.spec)["layout"]


def labels(reader) -> list[str]:
    return [expander.label for expander in reader.expander]


def test_it_is_off_until_someone_asks():
    reader = opened()
    assert not reader.exception and reader.markdown[0].value == "at a desk"
    assert reader.toggle[0].value is False and "projector" not in reader.query_params
    assert len(labels(reader)) == 2  # the source, and the numbers behind a figure


def test_the_link_turns_it_on():
    reader, other = opened(projector="1"), opened()
    assert not reader.exception and reader.markdown[0].value == "on a wall" and reader.toggle[0].value is True
    assert layout(reader)["font"]["size"] > layout(other)["font"]["size"] == 16
    assert labels(reader) == []


def test_it_outlives_a_change_of_page():
    reader = opened(projector="1")
    reader.query_params.clear()  # as a change of page does
    reader.run()
    assert reader.markdown[0].value == "on a wall" and reader.query_params["projector"] == "1"
    assert opened().markdown[0].value == "at a desk"  # and nobody else notices


def test_the_switch_turns_it_on_and_off():
    reader = opened()
    reader.toggle[0].set_value(True).run()
    assert reader.markdown[0].value == "on a wall" and reader.query_params["projector"] == "1"
    reader.toggle[0].set_value(False).run()
    assert reader.markdown[0].value == "at a desk" and "projector" not in reader.query_params


def test_a_link_may_turn_it_off_and_a_bad_one_does_nothing():
    reader = opened(projector="1")
    reader.query_params["projector"] = "0"
    assert reader.run().markdown[0].value == "at a desk"
    assert opened(projector="yes; drop").markdown[0].value == "at a desk"


def test_a_section_is_cut_where_a_paragraph_or_a_sentence_ends():
    assert _in_short("One.\n\nTwo.\n\nThree.") == ("One.", "Two.\n\nThree.")
    assert _in_short("It is this:\n\n$x^2$\n\nAnd so on.") == ("It is this:\n\n$x^2$", "And so on.")
    assert _in_short("- one\n- two") == ("", "- one\n- two")
    assert _in_short("*One* word.") == ("*One* word.", "")
    first, second = "A short **sentence.** " * 3, "Long " * MOST_PROJECTED
    begin, rest = _in_short(first + second)
    assert begin == first.strip() and rest == second.strip()


def test_a_cut_leaves_no_markup_open():
    begin, rest = _in_short("Short one. **Bold here. And here** " + "on and on " * MOST_PROJECTED)
    assert begin == "Short one." and rest.startswith("**Bold here.")
    assert _in_short("没有空格的句子。" * MOST_PROJECTED)[0].endswith("。")
