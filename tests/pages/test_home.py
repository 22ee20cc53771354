"""Home, without a browser: what it says is computed, and it says it whatever is typed."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.hostile import HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, whole


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr("ui.models._warm_up_once", lambda pause: None)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def lines(run) -> list[str]:
    return [element.value for element in run.markdown if element.value.startswith("Sees")]


def test_it_opens(home):
    home.run()
    assert not home.exception
    assert home.title[0].value == "BERT, from a sentence to an answer"
    assert len(home.get("plotly_chart")) == 3
    assert lines(home) == [
        "Sees **7 of 7 words**: one half sees 2, the other 6; they are joined only on top; "
        "the farthest is 5 steps away.",
        "Sees **2 of 7 words**: itself and what stands to its left; the farthest is 1 step away.",
        "Sees **7 of 7 words**: both sides, together in every layer; the farthest is 1 step away.",
    ]


def test_every_figure_is_described(home):
    home.run()
    descriptions = [chart.proto.alt for chart in home.get("plotly_chart")]
    assert descriptions[1] == (
        "GPT: the vector of “bank” is computed from: The, bank. Out of sight: by, the, river, was, closed."
    )
    assert descriptions[2].endswith("Out of sight: nothing.")


def test_one_word_sees_itself(home):
    home.query_params["sentence"] = "Hello"
    home.run()
    assert not home.exception
    assert ["1 of 1 word**" in line and "0 steps away" in line for line in lines(home)] == [True] * 3


def test_any_sentence(home):
    home.run()
    for name, text in {**HOSTILE, "only nul": "  \0 "}.items():
        home.text_input(key="sentence").set_value(text)
        assert_no_markup(whole(home.run()))
        if name in ("empty", "spaces", "joiners", "only nul"):
            assert not lines(home) and any("at least one word" in info.value for info in home.info), name
        else:
            assert len(lines(home)) == 3, name


def test_a_shorter_sentence_keeps_the_position_inside(home):
    home.query_params["word"] = "7"
    home.run()
    assert "7 of 7" in lines(home)[1]
    home.text_input(key="sentence").set_value("only three words").run()
    assert not home.exception and "3 of 3 words" in lines(home)[1]


def test_chinese_is_one_character_a_word(home):
    home.query_params["sentence"] = "我喜欢你"
    home.run()
    assert "of 4 words" in lines(home)[0]
