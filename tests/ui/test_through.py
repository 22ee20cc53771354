"""What the picture is sent: every number is the trace's, rounded once; three models in at most 150 kB; a click leads to
the lesson with the same sentence. And where each page stands on the way."""

import json
import re

import numpy as np
import pytest

from tests.hostile import EVERYTHING
from tests.server import LESSON_PAGES, ROOT
from ui.model_cache import load, trace_of
from ui.model_registry import FRONT_PAGE
from ui.stages import HERE, stages
from ui.through.passage import MOST_TOKENS, Passage
from ui.through.payload import DRAWN, compact
from ui.through.picture import in_a_sentence, lesson_at, pass_of, sent, table

KEYS = "The keys to the old cabinet were lost."


def passage(text=KEYS, second="The football season begins in August.", blank=6, models=FRONT_PAGE) -> Passage:
    return Passage(text, second, tuple(load("mini-en").tokenizer.encode(text).word_spans()), blank, models)


def unpacked(text: str) -> np.ndarray:
    return np.array([int(text[i : i + 2], 36) for i in range(0, len(text), 2)])


@pytest.mark.parametrize("name", FRONT_PAGE)
def test_every_number_is_the_traces(name):
    asked = passage()
    told, trace = sent(name, asked), trace_of(name, asked.hidden, asked.second)
    count, layers, heads = len(trace.tokens), trace.config.num_hidden_layers, trace.config.num_attention_heads
    assert told["tokens"] == trace.tokens and told["ids"] == trace.ids and told["segments"] == trace.encoding.segments
    weights = unpacked(told["weights"]).reshape(layers, heads, count, count)
    for layer in range(layers):
        probs = trace[f"blocks.{layer}.attn.probs"]
        assert np.abs(weights[layer] / 1000 - probs).max() <= 0.000501
        mean = unpacked(told["mean"]).reshape(layers, count, count)[layer]
        assert np.abs(mean / 1000 - probs.mean(0)).max() <= 0.000501
        assert np.allclose(told["states"][layer + 1], trace[f"blocks.{layer}.out"][:, :DRAWN] * 100, atol=0.501)
        added = np.linalg.norm(trace[f"blocks.{layer}.mlp.out"], axis=1)
        added = added / np.linalg.norm(trace[f"blocks.{layer}.attn.norm"], axis=1)
        assert np.allclose(told["adds"][layer][1], added * 100, atol=0.501)
    for part, lengths, tap in zip(told["parts"], told["lengths"], ("token", "segment", "position", "sum"), strict=True):
        vectors = trace[f"embeddings.{tap}"]
        assert np.allclose(part, vectors[:, :DRAWN] * 100, atol=0.501)
        assert np.allclose(lengths, np.linalg.norm(vectors, axis=1) * 100, atol=0.501)
    blank = trace.tokens.index("[MASK]")
    logits = trace["mlm.logits"][blank].astype(float)
    probs = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert told["blank"] == blank and len(told["guesses"]) == 5
    for piece, _text, share, right in told["guesses"]:
        assert abs(share - probs[load(name).tokenizer.vocab.index(piece)]) <= 0.0000501
        assert right == (piece == "were")
    scores = trace["nsp.logits"].astype(float)
    assert abs(told["follows"][0] - 1 / (1 + np.exp(scores[1] - scores[0]))) <= 0.0000501


def test_letters_are_those_of_the_text_whatever_it_is():
    told = sent("mini-en", passage("Unbelievably, it rained.", "", 2, ("mini-en",)))
    assert "".join(told["letters"]) == "Unbelievably,[MASK]rained." and told["word"] == "it"
    assert told["follows"] is None
    text = "".join(EVERYTHING.split())[:150]
    json.dumps(sent("mini-en", passage(text, text, 0, ("mini-en",))), allow_nan=False)


def test_three_models_are_at_most_150_kb():
    words = "a " * (MOST_TOKENS - 11) + "x"
    asked = passage(words.strip(), "one two three four five six seven", 3)
    told = [compact(sent(name, asked)) for name in FRONT_PAGE]
    assert max(len(one["tokens"]) for one in told) == MOST_TOKENS
    assert len(json.dumps(told).encode()) <= 150_000


def test_the_frame_needs_no_weights(monkeypatch):
    monkeypatch.setattr("ui.through.picture.load", None)
    told = sent("minilm-en", passage(), waiting=True)
    assert told["tokens"].count("[MASK]") == 1 and "weights" not in told
    assert re.findall(r"\d+", in_a_sentence(told))[:3] == ["19", "6", "12"]


def test_a_pass_is_computed_once_and_words_and_numbers_say_the_same():
    first, again = (pass_of("mini-en", passage()) for _ in range(2))
    assert first.values is again.values
    told = sent("minilm-en", passage())
    (piece, share, *_), *_ = told["guesses"]
    assert piece in in_a_sentence(told) and str(share) in in_a_sentence(told)
    rows = table(told)
    assert len(rows) == len(told["tokens"]) and rows[3]["their sum"] == told["lengths"][3][3] / 100


def test_a_click_opens_the_lesson_at_that_place():
    asked = passage()
    place = {"to": "heads", "model": "minilm-en", "layer": 2, "head": 4, "row": 7}
    said = {"sentence": "The keys to the old cabinet [MASK] lost.", "second": asked.second, "model": "minilm-en"}
    assert lesson_at(place, asked) == ("attention", {**said, "layer": "3", "head": "5", "row": "8"})
    assert lesson_at({**place, "to": "blank"}, asked) == ("masking", {"cloze": asked.hidden, "model": "minilm-en"})
    assert lesson_at({**place, "to": "pieces"}, asked)[1]["text"] == KEYS
    assert lesson_at({**place, "to": "pieces", "second": True}, asked)[1]["text"] == asked.second
    for stage in stages():
        page, query = lesson_at({**place, "to": stage.name}, asked)
        assert f'_("{query.get("part", "")}' in (ROOT / "pages" / f"{page}.py").read_text(encoding="utf-8")


def test_a_click_says_only_what_is_there():
    asked = passage()
    for told in ({}, {"to": "x", "model": "mini-en"}, {"to": "heads", "model": "../x"}, {"to": "heads"}):
        assert lesson_at(told, asked) is None
    for bad in ("2", -1, 1e9, True, None, [1]):
        assert "layer" not in lesson_at({"to": "heads", "model": "mini-en", "layer": bad}, asked)[1]


def test_every_page_has_its_place_on_the_way():
    names = {stage.name for stage in stages()}
    assert set(HERE) == LESSON_PAGES
    assert all(set(lit) <= names for lit in HERE.values())
    for stage in stages():
        assert stage.name in HERE[stage.page], "the lesson about a stage stands there"


def test_a_long_text_is_read_whole_and_drawn_around_the_blank():
    words = (
        "The keys to the old cabinet, which my brother had found under the stairs of the house, were lost for years."
    )
    blank = next(
        i
        for i, (start, _end) in enumerate(load("mini-en").tokenizer.encode(words).word_spans())
        if words[start:].startswith("were")
    )
    asked = passage(words, "Nobody knew who had taken them.", blank)
    told, trace = sent("minilm-en", asked), trace_of("minilm-en", asked.hidden, asked.second)
    assert told["count"] == len(trace.tokens) > MOST_TOKENS == len(told["tokens"])
    rows = [row - 1 for row in told["rows"]]
    assert rows[0] == 0 and told["tokens"] == [trace.tokens[row] for row in rows]
    assert told["tokens"][told["blank"]] == "[MASK]"
    weights = unpacked(told["weights"]).reshape(6, 12, MOST_TOKENS, MOST_TOKENS)
    assert np.abs(weights[5] / 1000 - trace["blocks.5.attn.probs"][:, rows][:, :, rows]).max() <= 0.000501
    assert pass_of("minilm-en", asked).looks()[0] == pytest.approx(
        trace["blocks.5.attn.probs"][:, trace.tokens.index("[MASK]"), 0].max(), abs=1e-6
    )
