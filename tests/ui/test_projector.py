"""Projector mode belongs to one session, is in its link, and outlives a change of page."""

import json

import plotly.graph_objects as go
import pytest

from tests.ui import driver
from ui.figures import figure
from ui.lesson import MOST_PROJECTED, Lesson
from ui.projector import projecting, projector_switch
from ui.source import show_source


def page():
    projector_switch()
    figure(go.Figure(go.Bar(y=[1])), "One bar.", "fig")
    show_source(projecting)
    return projecting()


def opened(**link):
    return driver.opened(page, **link)


def on_a_wall(reader) -> bool:
    """As the page, its switch and its link say."""
    on = reader.session_state["got"]
    assert reader.toggle[0].value is on and ("projector" in reader.query_params) is on
    return on


def layout(reader) -> dict:
    return json.loads(reader.get("plotly_chart")[0].proto.spec)["layout"]


def test_the_link_turns_it_on():
    reader, other = opened(projector="1"), opened()
    assert on_a_wall(reader) and not on_a_wall(other)
    assert layout(reader)["font"]["size"] > layout(other)["font"]["size"] == 16
    assert not reader.expander and len(other.expander) == 2  # the source, and the numbers behind a figure


def test_it_outlives_a_change_of_page():
    reader = opened(projector="1")
    reader.query_params.clear()  # as a change of page does
    assert on_a_wall(reader.run())
    assert not on_a_wall(opened())  # and nobody else notices


def test_the_switch_turns_it_on_and_off_a_link_too_and_a_bad_one_does_nothing():
    reader = opened(projector="yes; drop")
    assert not reader.session_state["got"]
    assert on_a_wall(reader.toggle[0].set_value(True).run())
    assert not on_a_wall(reader.toggle[0].set_value(False).run())
    reader.query_params["projector"] = "1"
    assert reader.run().session_state["got"]
    reader.query_params["projector"] = "0"
    assert not reader.run().session_state["got"]


FIRST, SECOND, MORE = "A short **sentence.** " * 3, "Long " * MOST_PROJECTED, "on and on " * MOST_PROJECTED
CHINESE = "没有空格的句子。"


@pytest.mark.parametrize(
    ("text", "begin", "rest"),
    [
        ("One.\n\nTwo.\n\nThree.", "One.", "Two.\n\nThree."),
        ("It is this:\n\n$x^2$\n\nAnd so on.", "It is this:\n\n$x^2$", "And so on."),
        ("- one\n- two", "- one\n- two", ""),
        (f"- one\n- two\n- {MORE}", "- one\n- two", f"- {MORE}"),
        ("| a |\n|---|\n| 1 |", "", "| a |\n|---|\n| 1 |"),
        (f"As Peters et al. (2018) say. Then {MORE}", "As Peters et al. (2018) say.", f"Then {MORE}"),
        ("*One* word.", "*One* word.", ""),
        (FIRST + SECOND, FIRST, SECOND),
        (f"Short one. **Bold here. And here** {MORE}", "Short one.", f"**Bold here. And here** {MORE}"),  # none open
        (CHINESE * MOST_PROJECTED, CHINESE * (MOST_PROJECTED // 8), CHINESE * (MOST_PROJECTED - MOST_PROJECTED // 8)),
    ],
)
def test_a_section_is_cut_where_a_paragraph_or_a_sentence_ends(tmp_path, text, begin, rest):
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums" / "en.md").write_text(f"# Sums\n\n## One\n\n{text}\n", encoding="utf-8")
    lesson = Lesson("sums", tmp_path)
    reader = driver.opened(lambda: lesson.show("One", title=False), projector="1")
    folded = [block.value for fold in reader.expander for block in fold.markdown]
    shown = [block.value for block in reader.markdown]
    assert shown == [text.strip() for text in (begin, rest) if text]
    assert folded == ([rest.strip()] if rest else [])
