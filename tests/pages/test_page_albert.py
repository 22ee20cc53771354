"""The ALBERT page: what it draws is what both models computed and what is counted; weights and times as recorded."""

import re
import shutil

import pytest
import streamlit as st

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.count import parameters
from minibert.inside.geometry.vectors import encoder_of
from minibert.inside.predictions.pair_questions import judged
from minibert.inside.relatives.repetitions import movement
from minibert.relatives import shape_of
from minibert.relatives.albert import AlbertConfig
from minibert.toy import world
from sections.albert import order
from tests.pages.driver import ROOT, figure, html_of, open_page, text_of, title_of, whole
from tests.pages.recorded import relative_records, write_records

PAIR = ROOT / "checkpoints" / "albert-toy"
TEXT = "felix was an eager boy. felix lost the scarf."


@pytest.fixture(scope="module")
def models():
    return {name.upper(): checkpoint.load(PAIR / name) for name in ("albert", "bert")}


@pytest.fixture(scope="module")
def tokenizer():
    return checkpoint.load_tokenizer(PAIR / "albert")


def drawn_blocks(app) -> dict[str, list[tuple[str, str, float]]]:
    """Model → of each layer: attention's and the feed-forward's words, and how far it moves."""
    rows = re.findall(r'<div class="mb-albert"><strong>(.*?)</strong>(.*?)</div>', html_of(app))
    box = r"<li><span[^>]*>(.*?)</span><span[^>]*>(.*?)</span><b[^>]*><i>moves ([\d.]+)</i>"
    return {name: [(a, m, float(step)) for a, m, step in re.findall(box, row)] for name, row in rows}


@pytest.mark.parametrize("token", [1, 4])
def test_the_picture_is_what_both_models_computed(runs_folder, models, tokenizer, token):
    app = open_page("albert", owner="me", text=TEXT, token=token)
    ids = tokenizer.encode(TEXT).ids
    layers = len(models["BERT"].bert.blocks)
    lines = {
        (line["name"], line["xaxis"]): line["y"]
        for line in figure(app, "movement")["data"]
        if line.get("name") and line.get("fill") != "toself"
    }
    for name, model in models.items():
        moved = movement(model.bert, ids)
        pick = (lambda values: values.mean(1)) if token == 1 else (lambda values: values[:, token - 2])
        boxes = drawn_blocks(app)[name]
        assert [step for *_, step in boxes] == pytest.approx(pick(moved.distances), abs=0.051)
        own = "" if token == 1 else f", {tokenizer.vocab[ids[token - 2]]}"
        assert lines[f"{name}{own}", "x"] == pytest.approx(pick(moved.distances))
        assert lines[f"{name}{own}", "x2"] == pytest.approx(pick(moved.cosines))
    copies = {name: len({box[:2] for box in boxes}) for name, boxes in drawn_blocks(app).items()}
    assert copies == {"ALBERT": 1, "BERT": layers}


def test_a_checkpoint_of_ones_own_stands_beside_a_bert_that_reads_with_its_own_vocabulary(
    runs_folder, models, tokenizer, tmp_path, monkeypatch
):
    text = "Unbelievably clumsy Felix repaired the umbrella."
    shutil.copytree(PAIR / "albert", tmp_path / "my-albert")
    monkeypatch.setenv("MINIBERT_MODELS", str(tmp_path))
    ours, theirs = tokenizer.encode(text), checkpoint.load_tokenizer(ROOT / "checkpoints" / "minilm-en").encode(text)
    place = next(i for i, (start, _end) in enumerate(ours.offsets) if start == text.index("umbrella"))
    same = next(i for i, (start, _end) in enumerate(theirs.offsets) if start == text.index("umbrella"))
    assert place != same  # a cut of its own
    app = open_page("albert", owner="me", pair="my-albert", text=text, token=place + 2)
    bert = movement(encoder_of(checkpoint.load(ROOT / "checkpoints" / "minilm-en")), theirs.ids)
    albert = movement(models["ALBERT"].bert, ours.ids)
    boxes = drawn_blocks(app)
    assert [step for *_, step in boxes["ALBERT"]] == pytest.approx(albert.distances[:, place], abs=0.051)
    assert [step for *_, step in boxes["BERT"]] == pytest.approx(bert.distances[:, same], abs=0.051)
    app = open_page("albert", owner="me", pair="my-albert", part="Order or topic")
    assert app.info and not figure(app, "crosswise")


@pytest.mark.parametrize(
    ("size", "width", "shared", "number"),
    [("xxlarge", 128, "all", 222_595_584), ("base", 768, "none", None), ("large", 64, "attention", None)],
)
def test_the_weights_are_counted(runs_folder, size, width, shared, number):
    app = open_page("albert", owner="me", size=size, E=width, shared=shared)
    config = AlbertConfig.preset(size, embedding_size=width, shared=shared)
    number = number or parameters(shape_of(config)).with_pooler
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    before = parameters(BertConfig(30_000, *(getattr(config, name) for name in names))).with_pooler
    assert re.findall(r"\d{1,3}(?:,\d{3})+", title_of(app, "weights"))[:2] == [f"{number:,}", f"{before:,}"]
    bars = {bar["name"]: bar for bar in figure(app, "weights")["data"]}
    for place, count in enumerate((before, number)):
        drawn = sum(x for bar in bars.values() for x, y in zip(bar["x"], bar["y"], strict=True) if y == place)
        assert drawn == pytest.approx(count / 1e6)
    copies = 1 if shared in ("all", "attention") else config.num_hidden_layers
    assert sum(y == 1 for y in bars["attention, a copy each"]["y"]) == copies
    assert f"30,000·{width:,} + {width:,}·{config.hidden_size:,}" in text_of(app)


def test_the_published_sizes_stand_in_a_table(runs_folder):
    shown = open_page("albert", owner="me", part="What became of it").table[0].value["weights, with pooler"]
    assert list(shown) == ["11,683,584", "17,683,968", "58,724,864", "222,595,584"]


def test_both_are_asked_both_questions_and_the_answer_waits_for_a_guess(runs_folder, models, tokenizer, monkeypatch):
    monkeypatch.setattr(order, "STORIES", 20)
    st.cache_data.clear()
    app = open_page("albert", owner="me")
    app.session_state["part"] = "Order or topic"
    app = whole(app.run())
    assert figure(app, "crosswise") is None
    app = whole(app.button(key="albert-order-guess-0").click().run())
    documents = world.documents(20, order.SEED, "small")
    for bar, second in zip(figure(app, "crosswise")["data"], ("nsp", "sop"), strict=True):
        expected = [100 * judged(models[name], tokenizer, documents)[second] for name in ("ALBERT", "BERT")]
        assert bar["x"] == pytest.approx(expected)
    st.cache_data.clear()


def test_weights_and_times_are_those_of_the_records(results):
    values = {arm: {"milliseconds": times} for arm, times in {"bert": [2.0, 2.0], "all": [2.0, 2.0, 90.0]}.items()}
    write_records(results, "albert", relative_records("albert", values, {"masked": 0.15}))
    app = open_page("albert", owner="me", part="The claim", claim="time")
    row = app.table[0].value.iloc[1]
    assert (
        row["weights"] == "1,234" and row["a step, ms"].startswith("429") and row["an answer, ms"].startswith("2.00 ")
    )
