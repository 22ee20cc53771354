"""The input page: its rows against the tokenizer, its sums against the model, any text, any link."""

import json
import re
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from minibert.text.truncation import keep
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, whole
from ui.model_cache import load, trace_of
from ui.model_registry import available_models

MODEL = available_models()[0].name
open_page = partial(driver.open_page, "input")


def rows(app: AppTest) -> dict[str, list[str]]:
    """Name → cells of the growing row, its lines put together again."""
    html = next(block.proto.body for block in app.get("html") if "mb-rows" in block.proto.body)
    found: dict[str, list[str]] = {}
    for name, cells in re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', html):
        found.setdefault(name, []).extend(re.findall(r"<bdi>(.*?)</bdi>", cells))
    return found


def test_every_step_adds_its_row_until_it_is_the_tokenizers():
    for step, names in ((1, 1), (2, 1), (3, 2), (4, 3), (5, 4)):
        found = rows(open_page(part="The row", step=step, model=MODEL, a="Good morning.", b="It rained."))
        assert len(found) == names and ("[CLS]" in found["token"]) == (step > 1)
    encoding = load(MODEL).tokenizer.encode("Good morning.", "It rained.")
    assert found["token"] == [*encoding.tokens, *["[PAD]"] * 3]
    assert found["id"] == [str(i) for i in encoding.ids] + ["0"] * 3
    assert found["segment id"] == [str(s) for s in encoding.segments] + ["0"] * 3
    assert found["attention mask"] == ["1"] * len(encoding.ids) + ["0"] * 3
    for alone in ({"pair": "false"}, {"b": ""}):  # an emptied field is no sentence
        found = rows(open_page(part="The row", step=4, a="Good morning.", **alone))
        assert set(found["segment id"]) == {"0"} and found["token"].count("[SEP]") == 1


def strips(app: AppTest) -> dict:
    """What the strips are told to draw."""
    return json.loads(app.get("bidi_component")[0].proto.json)


def test_the_numbers_add_up_to_the_last_digit():
    app, place = open_page(model=MODEL), 0
    app.session_state["_token"] = place
    whole(app.run())
    trace = trace_of(MODEL, app.text_input(key="a").value, app.text_input(key="b").value)
    by_name = {
        row.iloc[0]: [float(cell.replace("−", "-")) for cell in row.iloc[1:]]
        for _, row in app.table[0].value.iterrows()
    }
    for name in ("token", "segment", "position", "sum"):
        np.testing.assert_allclose(by_name[name], trace[f"embeddings.{name}"][place][:8], atol=5e-7)
    total = np.sum([by_name[name] for name in ("token", "segment", "position")], axis=0)
    np.testing.assert_allclose(total, by_name["sum"], atol=2e-6)
    drawn = strips(app)
    assert drawn["token"] == place and drawn["tokens"][place] == trace.tokens[place]
    for part in (*drawn["parts"], drawn["sum"]):
        np.testing.assert_array_equal(part["values"], trace[f"embeddings.{part['name']}"][place][:64])
    np.testing.assert_array_equal(drawn["out"]["values"], trace["embeddings.out"][place][:64])


def test_a_token_at_two_places_has_two_sums():
    said = driver.text_of(open_page(model=MODEL, a="The dog saw the cat.", pair="false"))
    sums = trace_of(MODEL, "The dog saw the cat.", None)["embeddings.sum"]
    cosine = np.dot(sums[1], sums[4]) / np.linalg.norm(sums[1]) / np.linalg.norm(sums[4])
    assert re.search(rf"positions 2 and 5\D.*{cosine:.2f}", said)
    assert "positions 2 and" not in driver.text_of(open_page(model=MODEL, a="A dog barks.", pair="false"))


def test_the_lengths_are_told_after_a_guess():
    app = open_page()
    drawn = strips(app)
    assert drawn["tokens"][drawn["token"]] == "river"
    assert not drawn["told"] and not any(part["length"] for part in drawn["parts"])
    trace = trace_of("minilm-en", app.text_input(key="a").value, app.text_input(key="b").value)
    lengths = {part["name"]: np.linalg.norm(trace[f"embeddings.{part['name']}"][2]) for part in drawn["parts"]}
    longest = max(lengths, key=lengths.get)
    whole(next(button for button in app.button if driver.plain(button.label) == longest).click().run())
    drawn = strips(app)
    assert {part["name"]: part["length"] for part in drawn["parts"]} == {n: f"{x:.2f}" for n, x in lengths.items()}


@pytest.mark.parametrize("how", ["longest_first", "head_tail", "budget"])
def test_what_stays_is_what_the_strategy_keeps(how):
    texts = ("one two three four five six", "seven eight nine")
    app = open_page(keep=how, part="Too long", model=MODEL, a=texts[0], b=texts[1])
    lengths = [len(load(MODEL).tokenizer.encode(text, add_special=False).ids) for text in texts]
    room = max(4, round(0.6 * (sum(lengths) + 3))) - 3
    budgets = [room // 3, room - room // 3]
    kept = keep(lengths, room, how, budgets if how == "budget" else None)
    said = [re.search(r"(\d+) of (\d+) tokens stay", m.value) for m in app.markdown]
    assert [(int(s[1]), int(s[2])) for s in said if s] == [(len(k), n) for k, n in zip(kept, lengths, strict=True)]


BAD = {"step": "99", "keep": "nonsense", "model": "../../etc", "pair": "maybe"}


@pytest.mark.parametrize("part", ["Three vectors", "The row"])
def test_any_text_is_text_also_on_a_page_that_a_bad_link_opened(part):
    app = open_page(part=part, **BAD)
    assert not app.error
    for text in ("", EVERYTHING):
        for key in "ab":
            assert_no_markup(whole(app.text_input(key=key).set_value(text).run()))


def test_the_other_parts_open_by_a_bad_link_too_and_a_new_token_gets_the_next_id():
    for part in ("Too long", "Places", "The row"):
        app = open_page(part=part, **BAD)
        assert not app.error, part
    size, before = load("minilm-en").tokenizer.vocab_size, len(app.info)
    assert any(f"**{size:,}**" in m.value for m in app.markdown)
    assert len(whole(app.text_input(key="special").set_value("no brackets").run()).info) == before + 1
