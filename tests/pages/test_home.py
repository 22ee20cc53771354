"""Home, without a browser: what it says is computed, and it says it whatever is typed."""

import json
import re
import tomllib

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.hostile import EVERYTHING, HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, link, plain, whole
from ui.models import FRONT_PAGE, load, trace_of


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr("ui.models._warm_up_once", lambda pause: None)
    return AppTest.from_file(str(ROOT / "course.py"), default_timeout=60)


def lines(run) -> list[str]:
    return [element.value for element in run.markdown if element.value.startswith("Sees")]


def test_it_opens(home):
    home.run()
    assert not home.exception
    assert home.title[0].value == "BERT, from a sentence to an answer"
    assert len(home.get("plotly_chart")) == 4
    assert lines(home) == [
        "Sees **4 of 7 words**: a window, wider by 2 words with each layer; the farthest is 2 steps away.",
        "Sees **7 of 7 words**: one half sees 2, the other 6; they are joined only on top; "
        "the farthest is 5 steps away.",
        "Sees **2 of 7 words**: itself and what stands to its left; the farthest is 1 step away.",
        "Sees **7 of 7 words**: both sides, together in every layer; the farthest is 1 step away.",
    ]


def test_every_figure_is_described(home):
    home.run()
    descriptions = [chart.proto.alt for chart in home.get("plotly_chart")]
    assert descriptions[2] == (
        "GPT: the vector of “bank” is computed from: The, bank. Out of sight: by, the, river, was, closed."
    )
    assert descriptions[3].endswith("Out of sight: nothing.")


def test_one_word_sees_itself(home):
    home.query_params["sentence"] = "Hello"
    home.run()
    assert not home.exception
    assert ["1 of 1 word**" in line and "0 steps away" in line for line in lines(home)] == [True] * 4


def test_any_sentence(home):
    home.run()
    for text in ("", HOSTILE["joiners"], "  \0 ", EVERYTHING):
        home.text_input(key="sentence").set_value(text)
        assert_no_markup(whole(home.run()))
        if text is EVERYTHING:
            assert len(lines(home)) == 4
        else:
            assert not lines(home) and home.info


def test_a_shorter_sentence_keeps_the_position_inside(home):
    home.query_params["word"] = "7"
    home.run()
    assert "7 of 7" in lines(home)[3]
    home.text_input(key="sentence").set_value("only three words").run()
    assert not home.exception and "3 of 3 words" in lines(home)[3]


def test_chinese_is_one_character_a_word(home):
    home.query_params["sentence"] = "我喜欢你"
    home.run()
    assert "of 4 words" in lines(home)[0]


# --- the first minute -------------------------------------------------------------------------------------------------

MODELS = ["Random weights", "mini-en", "minilm-en"]


@pytest.fixture(autouse=True)
def models_are_there():
    """As after the first seconds of a server; before them the page shows a frame, see the test of it."""
    for name in FRONT_PAGE:
        load(name)


def cards(run) -> str:
    page, *_ = (block.proto.body for block in run.get("html") if "<article>" in block.proto.body)
    return plain(page)


def findings(run) -> list[list[str]]:
    """The titles of the three pictures, model by model."""
    return [re.findall("<h3>(.*?)</h3>", article) for article in cards(run).split("<article>")[1:]]


def words(run) -> list[str]:
    return [plain(button.label) for button in run.button if re.fullmatch(r"hide-\d+", button.key or "")]


def test_three_models_answer_at_once(home):
    home.run()
    assert not home.exception
    assert re.findall("<h2>(.*?)</h2>", cards(home)) == MODELS
    assert words(home) == ["The", "keys", "to", "the", "old", "cabinet", "[MASK]", "lost", "."]
    said = findings(home)
    assert [len(parts) for parts in said] == [3, 3, 3]
    assert said[0][:2] == ["Expects no word", "Looks everywhere alike"] and "toss-up" in said[0][2]
    assert all(parts[0].startswith("Expects “") for parts in said[1:])


def test_what_is_shown_is_what_the_models_compute(home):
    from minibert.inside.next_sentence import judge

    home.run()
    blanked, second = "The keys to the old cabinet [MASK] lost.", "The football season begins in August."
    for name, said in zip(("mini-en", "minilm-en"), findings(home)[1:], strict=True):
        loaded, trace = load(name), trace_of(name, blanked, second)
        logits = trace["mlm.logits"][trace.tokens.index("[MASK]")].astype(float)
        share = 1 / np.exp(logits - logits.max()).sum()
        assert said[0] == f"Expects “{loaded.tokenizer.vocab[logits.argmax()]}”: {100 * share:.0f} %"
        follows = judge(loaded.model, loaded.tokenizer, [(blanked, second)])[0]
        assert f"width: {100 * follows:.2f}%" in cards(home)


def test_a_click_moves_the_blank_and_the_link_follows(home):
    home.run()
    before = findings(home)
    home.button(key="hide-1").click().run()
    assert words(home)[1] == "[MASK]" and words(home)[6] == "were"
    assert findings(home) != before and link(home, "blank") == "2"
    home.button(key="hide-Right").click().run()
    assert words(home)[2] == "[MASK]"
    for _ in range(4):
        home.button(key="hide-Left").click().run()
    assert words(home)[0] == "[MASK]" and link(home, "blank") == "1"


def test_an_example_brings_its_blank_and_its_second_sentence(home):
    home.run()
    home.button(key="hide-1").click().run()
    home.button_group(key="example").set_value(1).run()
    assert home.text_input(key="text").value == "They fished from the bank of the river."
    assert words(home)[-2] == "[MASK]" and "blank" not in home.query_params
    assert home.text_input(key="next").value == "They caught two trout before noon."
    home.text_input(key="next").set_value("My own").run()
    home.button_group(key="example").set_value(2).run()
    assert home.text_input(key="next").value == "My own"


def test_a_link_opens_it(home):
    home.query_params.update({"text": "one two three", "blank": "2", "next": "four"})
    home.run()
    assert words(home) == ["one", "[MASK]", "three"] and home.text_input(key="next").value == "four"


def test_a_bad_link_to_it_falls_back(home):
    home.query_params.update({"text": "x" * 2000, "blank": "99"})
    home.run()
    assert not home.exception and words(home)[6] == "[MASK]"


def test_a_mask_that_was_typed_is_the_blank(home):
    home.query_params["text"] = "The [MASK] barked all night."
    home.run()
    assert words(home)[1] == "[MASK]" and words(home)[2] == "barked"


def test_own_text_hides_its_last_word(home):
    home.run()
    home.text_input(key="text").set_value("She walked home!").run()
    assert words(home) == ["She", "walked", "[MASK]", "!"]


def test_any_text_in_it(home):
    home.run()
    for text in ("", HOSTILE["joiners"], EVERYTHING):
        home.text_input(key="text").set_value(text)
        home.text_input(key="next").set_value(text)
        assert_no_markup(whole(home.run()))
        if text is EVERYTHING:
            assert len(words(home)) <= 24 and words(home).count("[MASK]") >= 1
            assert {len(parts) for parts in findings(home)} == {3}
        else:
            assert not words(home) and home.info
    assert any("[UNK] to it" in block for block in [cards_of(home, "😀 😀 😀 yes")])


def cards_of(run, text: str) -> str:
    run.text_input(key="text").set_value(text).run()
    return cards(run)


def test_no_second_sentence_no_judgement(home):
    home.query_params["next"] = " "
    home.run()
    assert [parts[2] for parts in findings(home)] == ["Type a second sentence, and it is judged."] * 3


def test_a_long_text_is_cut_with_a_sentence(home):
    home.query_params["text"] = "word " * 30
    home.run()
    assert len(words(home)) == 13
    said = "the first 13 of 30 words, and of the second sentence 7 of 7"
    assert any(said in caption.value for caption in home.caption)


def test_before_the_models_are_there_the_frame_shows(home, monkeypatch):
    monkeypatch.setattr("ui.through.passage.loaded", lambda names: False)
    home.run()
    assert not home.exception and len(words(home)) == 9
    assert 'aria-busy="true"' in cards(home) and cards(home).count("Loading the model") == 9


def test_every_example_names_a_word_of_its_sentence():
    file = ROOT / "lessons" / "through" / "passages.toml"
    for example in tomllib.loads(file.read_text(encoding="utf-8"))["example"]:
        assert set(example) == {"name", "text", "hide", "next"}
        assert re.search(rf"\b{example['hide']}\b", example["text"]), example


def test_does_it_understand_says_what_was_measured():
    from sections.home.does_it_understand import ALL, SCORES

    text = (ROOT / "lessons" / "home" / "en.md").read_text(encoding="utf-8")
    assert [f"{100 * right / ALL:.0f}" for right in SCORES.values()] == ["99", "49", "0"]
    assert "99 % of new texts" in text and "49 %" in text


def test_does_it_understand_is_what_was_recorded():
    from sections.home.does_it_understand import ALL, SCORES

    lines = (ROOT / "lessons" / "results" / "mini-en" / "cues.jsonl").read_text(encoding="utf-8").splitlines()
    (record,) = (r for r in map(json.loads, lines) if r["arm"] == "not/planted" and r["seed"] == 0)
    assert {test: right / ALL for test, right in SCORES.items()} == pytest.approx(record["metrics"], abs=1e-9)
