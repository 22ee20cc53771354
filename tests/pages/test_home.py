"""Home, without a browser: what it says is computed, and it says it whatever is typed."""

import json
import re
import tomllib

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.hostile import EVERYTHING, HOSTILE
from tests.pages.driver import ROOT, assert_no_markup, link, plain, text_of, whole
from ui.model_cache import load, trace_of
from ui.model_registry import FRONT_PAGE
from ui.through.picture import _pass


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("MINIBERT_RUNS", str(tmp_path / "runs"))
    return AppTest.from_file(str(ROOT / "course.py"), default_timeout=60)


def seen(run) -> list[tuple[int, int, int]]:
    """Of each of the four models: how many of all words it sees, and the steps to the farthest."""
    said = re.findall(r"\*\*(\d+) of (\d+) words?\*\*.*?(\d+) steps? away", text_of(run))
    return [tuple(map(int, numbers)) for numbers in said]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"part": "Who may look where"}, [(4, 7, 2), (7, 7, 5), (2, 7, 1), (7, 7, 1)]),
        ({"sentence": "Hello"}, [(1, 1, 0)] * 4),
        ({"sentence": "我喜欢你", "word": 4}, [(3, 4, 2), (4, 4, 3), (4, 4, 1), (4, 4, 1)]),  # a character is a word
    ],
)
def test_who_may_look_where(home, query, expected):
    home.query_params.update(query)
    whole(home.run())
    assert seen(home) == expected and len(home.get("plotly_chart")) == 4


def test_any_sentence(home):
    home.query_params["word"] = "7"
    home.run()
    assert seen(home)[3][:2] == (7, 7)
    whole(home.text_input(key="sentence").set_value("only three words").run())
    assert seen(home)[3][:2] == (3, 3)  # the position is kept inside
    for text in ("", HOSTILE["joiners"], EVERYTHING):
        assert_no_markup(whole(home.text_input(key="sentence").set_value(text).run()))
        assert len(seen(home)) == 4 if text is EVERYTHING else not seen(home) and home.info


# --- the first minute -------------------------------------------------------------------------------------------------


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


def test_what_is_shown_is_what_the_models_compute(home):
    from minibert.inside.predictions.next_sentence import judge

    whole(home.run())
    assert [len(parts) for parts in findings(home)] == [2, 2, 2]  # one sentence at first, the second on demand
    whole(home.button(key="add-next").click().run())
    assert re.findall("<h2>(.*?)</h2>", cards(home)) == ["Random weights", "mini-en", "minilm-en"]
    assert words(home) == ["The", "keys", "to", "the", "old", "cabinet", "[MASK]", "lost", "."]
    assert [len(parts) for parts in findings(home)] == [3, 3, 3]
    blanked, second = "The keys to the old cabinet [MASK] lost.", "Penguins are flightless birds."
    for name, said in zip(("mini-en", "minilm-en"), findings(home)[1:], strict=True):
        loaded, trace = load(name), trace_of(name, blanked, second)
        logits = trace["mlm.logits"][trace.tokens.index("[MASK]")].astype(float)
        share = 1 / np.exp(logits - logits.max()).sum()
        assert f"“{loaded.tokenizer.vocab[logits.argmax()]}”: {100 * share:.0f} %" in said[0]
        follows = judge(loaded.model, loaded.tokenizer, [(blanked, second)])[0]
        assert f"width: {100 * follows:.2f}%" in cards(home)
    home.text_input(key="next").set_value(" ").run()
    assert [len(parts) for parts in findings(home)] == [2, 2, 2]  # no second sentence, no judgement


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
    home.button(key="add-next").click().run()
    home.button_group(key="through-0-example").set_value(1).run()
    assert home.text_input(key="text").value == "The key to the old cabinets was lost."
    assert words(home)[-3] == "[MASK]" and "blank" not in home.query_params
    assert home.text_input(key="next").value == "The cabinets were old, and nobody had the key."
    home.text_input(key="next").set_value("My own").run()
    home.button_group(key="through-0-example").set_value(2).run()
    assert home.text_input(key="next").value == "My own"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"text": "one two three", "blank": "2", "next": "four"}, ["one", "[MASK]", "three"]),
        ({"text": "x" * 2000, "blank": "99"}, ["[MASK]"]),
        ({"text": "The [MASK] barked."}, ["The", "[MASK]", "barked", "."]),  # the one that was typed
        ({"text": "She walked home!"}, ["She", "walked", "[MASK]", "!"]),  # the last word
    ],
)
def test_a_link_opens_it_and_a_bad_one_falls_back(home, query, shown):
    home.query_params.update(query)
    whole(home.run())
    assert words(home) == shown and query.get("next") in (None, home.text_input(key="next").value)


def test_any_text_in_it(home):
    home.run()
    for text in ("", HOSTILE["joiners"], EVERYTHING):
        home.text_input(key="text").set_value(text)
        assert_no_markup(whole(home.text_input(key="next").set_value(text).run()))
        if text is EVERYTHING:
            assert len(words(home)) <= 24 and words(home).count("[MASK]") >= 1
            assert {len(parts) for parts in findings(home)} == {3}  # EVERYTHING follows itself, or not
        else:
            assert not words(home) and home.info
    home.text_input(key="text").set_value("😀 😀 😀 yes").run()
    assert "[UNK]" in cards(home)
    home.text_input(key="next").set_value("")
    home.text_input(key="text").set_value("word " * 30).run()  # read whole; drawn is what stands around the blank
    assert len(words(home)) == 24 and any(re.findall(r"\d+", caption.value) == ["22"] for caption in home.caption)


def test_before_the_models_are_there_the_first_sentence_is_shown_and_of_another_the_frame(home, monkeypatch):
    for place in ("passage", "picture"):
        monkeypatch.setattr(f"ui.through.{place}.loaded", lambda names: False)
    monkeypatch.setattr("ui.through.picture.load", None)
    _pass.clear()
    home.run()
    assert not home.exception and [len(parts) for parts in findings(home)] == [2, 2, 2]
    home.text_input(key="text").set_value("The dog barked.").run()
    assert not home.exception and 'aria-busy="true"' in cards(home) and words(home) == ["The", "dog", "[MASK]", "."]


def test_every_example_names_a_word_of_its_sentence():
    file = ROOT / "lessons" / "through" / "passages.toml"
    for example in tomllib.loads(file.read_text(encoding="utf-8"))["en"]:
        assert set(example) - {"least"} == {"name", "text", "hide", "next", "follows"}
        assert re.search(rf"\b{example['hide']}\b", example["text"]), example


@pytest.mark.release
@pytest.mark.parametrize(("language", "model"), [("en", "mini-en"), ("en", "minilm-en"), ("zh", "mini-zh")])
def test_every_pair_is_judged_right_and_surely_by_the_trained_models(language, model):
    from minibert.inside.predictions.next_sentence import judge

    file = ROOT / "lessons" / "through" / "passages.toml"
    examples = tomllib.loads(file.read_text(encoding="utf-8"))[language]
    pairs = [(one["text"].replace(one["hide"], "[MASK]"), one["next"]) for one in examples]
    follows = [one["follows"] for one in examples]
    assert set(follows) == {True, False}
    for share, right in zip(judge(load(model).model, load(model).tokenizer, pairs).tolist(), follows, strict=True):
        assert share > 0.7 if right else share < 0.3


def test_does_it_understand_is_what_was_recorded():
    from sections.home.does_it_understand import ALL, SCORES

    lines = (ROOT / "lessons" / "results" / "mini-en" / "cues.jsonl").read_text(encoding="utf-8").splitlines()
    (record,) = (r for r in map(json.loads, lines) if r["arm"] == "not/planted" and r["seed"] == 0)
    assert {test: right / ALL for test, right in SCORES.items()} == pytest.approx(record["metrics"], abs=1e-9)
    prose = (ROOT / "lessons" / "home" / "en.md").read_text(encoding="utf-8")
    planted, balanced, _flipped = (f"{100 * right / ALL:.0f} %" for right in SCORES.values())
    assert planted in prose and balanced in prose
