"""A figure on a page has our look, a description, and its numbers for who asks."""

import json
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from tests.ui.driver import opened
from ui.figures import figure, legend

drawn: list[list] = []


def points(heights):
    drawn.append(heights)
    return go.Figure(go.Scatter(x=[1, 2], y=heights, mode="markers"))


def page():
    def table():
        st.session_state["made"] = st.session_state.get("made", 0) + 1
        return [{"token": "<b>", "share": 0.5}]

    legend([("#0072B2", "●", "<i>left</i>")])
    figure(points([3, 4]), "Two points, <b>rising</b>.", "fig", on_select="rerun", data=table)


def test_it_has_a_description_our_look_and_its_numbers():
    run = opened(page)
    chart = run.get("plotly_chart")[0].proto
    assert chart.alt == "Two points, <b>rising</b>."
    layout = json.loads(chart.spec)["layout"]
    assert layout["font"]["size"] >= 14 and layout["paper_bgcolor"] == "rgba(0,0,0,0)"
    assert json.loads(chart.config)["displayModeBar"] is False
    assert "&lt;i&gt;left" in run.get("html")[0].proto.body
    assert "made" not in run.session_state and not run.dataframe
    run.session_state["fig-words"] = True
    run.run()  # the table is made only when it is opened
    assert run.session_state["made"] == 1
    assert run.dataframe[0].value["share"].tolist() == [0.5]
    assert run.text[0].value == "Two points, <b>rising</b>."


def shared():
    figure(partial(points, [3, st.session_state.get("y", 4)]), "Two points.", "fig", on_select="rerun")
    figure(partial(points, [3, 4]), "The same, higher.", "other", height=700)


def test_a_figure_is_drawn_once_for_all_who_look_at_the_same_and_anew_for_other_numbers():
    drawn.clear()
    first, second = opened(shared), opened(shared)
    assert drawn == [[3, 4], [3, 4]]  # with what a click needs, and higher without
    specs = [[json.loads(chart.proto.spec) for chart in run.get("plotly_chart")] for run in (first, second)]
    assert specs[0] == specs[1]
    clicked, high = specs[0]
    assert clicked["layout"]["clickmode"] == "event+select" and clicked["layout"].get("height") is None
    assert high["layout"]["height"] == 700 and "clickmode" not in high["layout"]
    second.session_state["y"] = 5
    second.run()
    assert drawn[2:] == [[3, 5]]
    assert json.loads(second.get("plotly_chart")[0].proto.spec)["data"][0]["y"] == [3, 5]
