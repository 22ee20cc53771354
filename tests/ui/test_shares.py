"""Shares always sum to 100, whatever is moved and whatever a link says."""

import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.driver import opened
from ui.shares import balanced, set_shares, share_sliders


@given(st.lists(st.integers(0, 100), min_size=2, max_size=5), st.data())
def test_whatever_moves_the_sum_is_100_and_the_moved_one_stays(values, data):
    moved = data.draw(st.integers(0, len(values) - 1))
    result = balanced(values, moved)
    assert sum(result) == 100
    assert result[moved] == values[moved]
    assert all(0 <= value <= 100 for value in result)


@pytest.mark.parametrize(
    ("values", "moved", "wanted"),
    [
        ([60, 10, 10], 0, [60, 20, 20]),
        ([80, 40, 10], 1, [53, 40, 7]),
        ([100, 10, 10], 0, [100, 0, 0]),
        ([99, 0, 0], 0, [99, 1, 0]),  # nothing to go by: evenly, the odd one to the first
        ([50, 0, 0], 0, [50, 25, 25]),
        ([80, 10, 0], 2, [89, 11, 0]),
    ],
)
def test_the_others_keep_their_proportions(values, moved, wanted):
    assert balanced(values, moved) == wanted


def page():
    streamlit.button("even", on_click=set_shares, args=("split", (34, 33, 33)))
    return share_sliders("split", ["a", "b", "c"], (80, 10, 10))


def shown(app):
    assert not app.exception and [slider.value for slider in app.slider] == list(app.session_state["got"])
    return "/".join(str(slider.value) for slider in app.slider)


def test_moving_a_slider_moves_the_others_and_the_link():
    app = opened(page)
    assert shown(app) == "80/10/10"
    assert "split" not in app.query_params
    app.slider[1].set_value(40).run()
    assert shown(app) == "53/40/7"
    assert app.query_params["split"] in ("53-40-7", ["53-40-7"])
    app.button[0].click().run()
    assert shown(app) == "34/33/33"


@pytest.mark.parametrize("link", ["0-50-50", "100-0-0", "80-80-80", "80-20", "a-b-c", "²-50-50", "-10-60-50", ""])
def test_a_link_brings_its_shares_and_a_bad_one_the_default(link):
    wanted = {"0-50-50": "0/50/50", "100-0-0": "100/0/0"}.get(link, "80/10/10")
    assert shown(opened(page, split=link)) == wanted
