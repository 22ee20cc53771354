"""What to hide: six ways on one text, each against the functions that draw it; the tabs; two papers beside each
other."""

import re

import pytest
import streamlit as st
import torch

from minibert import checkpoint
from minibert.inside.predictions.hidden_text import KINDS, Hidden, guessed, hide, names, read, vocabulary_of
from minibert.model import IGNORE, Batch
from minibert.toy.hidden_spans import hidden_runs, replaced_accuracy, span_accuracy
from minibert.toy.pretrain import questions, words_by_kind
from minibert.toy.world import stories
from minibert.training.statistics import wilson
from sections.what_to_hide import hard
from sections.what_to_hide.side_by_side import MOST, ways
from sections.what_to_hide.subject import RATE
from tests.pages.driver import ROOT, figure, html_of, numbers, open_page, whole
from ui.text import visible

ENGLISH, CHINESE = "Charles unwrapped his present in New York.", "哈尔滨是黑龙江省的省会城市。"
LONG = f"{ENGLISH} {ENGLISH} {ENGLISH}"  # of which the first tokens are drawn, and the rest is read
TOYS = ROOT / "checkpoints" / "what-to-hide-toy"


@pytest.fixture(scope="module")
def models():
    """Language → model, tokenizer, what hiding knows of it."""
    found = {}
    for language in ("en", "zh"):
        folder = ROOT / "checkpoints" / f"mini-{language}"
        model, tokenizer = checkpoint.load(folder), checkpoint.load_tokenizer(folder)
        found[language] = model, tokenizer, vocabulary_of(model, tokenizer, language == "zh")
    return found


def rows_of(app) -> list[list[tuple[str, bool]]]:
    """Row → its tokens as they are read, and whether each is hidden."""
    rows = re.findall(r'<span class="way">.*?<ol aria-label="[^"]*">(.*?)</ol>', html_of(app), re.DOTALL)
    return [
        [
            (token, "hid" in css)
            for css, token in re.findall(r'<li class="([^"]*)".*?<span class="now"><bdi>(.*?)</bdi>', row)
        ]
        for row in rows
    ]


@pytest.mark.parametrize(
    ("text", "language", "seed"),
    [(ENGLISH, "en", 7), (LONG, "en", 7), pytest.param(CHINESE, "zh", 3, marks=pytest.mark.release)],
)
def test_the_picture_is_what_the_functions_draw(runs_folder, models, text, language, seed):
    model, tokenizer, vocab = models[language]
    app = open_page("what_to_hide", text=text, seed=seed)
    reading = read(tokenizer, vocab, text, 512, language == "zh", MOST)
    drawn = [hide(reading, kind, vocab, RATE / 100, seed) for kind in KINDS]
    inside = [n for n, special in enumerate(reading.encoding.special[: MOST + 1]) if not special]
    for row, (ids, labels) in zip(rows_of(app), drawn, strict=True):
        tokens = [(tokenizer.vocab[ids[n]], labels[n] != IGNORE) for n in inside]
        wanted = [("?" if hid and token == "[MASK]" else visible(token), hid) for token, hid in tokens]
        assert [(token.replace("&#x27;", "'"), hidden) for token, hidden in row] == wanted
    found = guessed(model, drawn, tokenizer.pad_id)
    for kind, one in zip(KINDS, found, strict=True):
        assert f'aria-label="{ways()[kind][0]}: {one.right} of {len(one.places)} right"' in html_of(app)
    before = rows_of(app)
    app = whole(app.button(key="draw").click().run())
    assert app.number_input(key="seed").value == seed + 1 and rows_of(app) != before


def test_common_words_have_similar_words_and_what_is_random_is_named(models):
    _model, tokenizer, vocab = models["en"]
    ids = tokenizer.encode("charles had his present in new york.").ids
    words = [(place, place + 1) for place in range(1, len(ids) - 1)]
    assert all(vocab.similar.of((ids[start],)) for start, _end in words[:-1])
    near, random = vocab.similar.of((ids[4],))[0][0], tokenizer.ids["43"]
    read_ids = [*ids[:3], tokenizer.mask_id, near, random, *ids[6:]]
    hidden = Hidden(tuple(read_ids), tuple(ids), (None,) * len(ids))
    assert hidden.random(tokenizer.mask_id, vocab.similar, words) == [5]


def test_guesses_are_the_models_one_by_one(models):
    model, tokenizer, vocab = models["en"]
    reading = read(tokenizer, vocab, ENGLISH, 40, False)
    rows = [hide(reading, kind, vocab, 0.4, 5) for kind in KINDS]
    for (ids, labels), one in zip(rows, guessed(model, rows, tokenizer.pad_id), strict=True):
        with torch.no_grad():
            logits = model(Batch(torch.tensor([ids]))).mlm_logits[0]
        for place in one.places:
            assert one.asked[place] == labels[place] == reading.encoding.ids[place]
            token, share = one.said[place]
            assert token == logits[place].argmax() and share == pytest.approx(
                logits[place].softmax(-1).max().item(), abs=1e-4
            )


def test_units_of_both_languages(models):
    for language, text, wanted in (
        ("en", ENGLISH, {"word": ["unw ##ra ##pped"], "entity": ["new york"], "phrase": ["new york"]}),
        ("zh", CHINESE, {"word": ["哈 尔 滨", "省 会", "城 市"], "entity": ["哈 尔 滨"], "phrase": ["省 会 城 市"]}),
    ):
        _, tokenizer, vocab = models[language]
        reading = read(tokenizer, vocab, text, 40, language == "zh")
        for kind, units in wanted.items():
            said = [" ".join(reading.encoding.tokens[a:b]) for a, b in reading.units[kind] if b - a > 1]
            assert set(units) <= set(said), (kind, said)


def test_names_are_capitals_but_not_a_sentences_first_word():
    text = "Yesterday Ada Lovelace met Babbage. They read."
    assert [text[a:b] for a, b in names(text, False)] == ["Yesterday Ada Lovelace", "Babbage"]
    assert [ENGLISH[a:b] for a, b in names(ENGLISH, False)] == ["New York"]


def test_only_differences_beyond_the_noise_are_named():
    def shares(right, n):
        return right / n, *wilson(right, n)

    base, near, far = shares(75, 160), shares(70, 160), shares(53, 160)
    assert base[1] < far[2]  # the intervals overlap, that of the difference leaves out 0
    assert hard.differs(base, far) and not hard.differs(far, base) and not hard.differs(base, near)
    told = hard._finding({"base": base, "near": near, "far": far})
    assert "far" in told and "near" not in told
    assert "near" not in hard._finding({"base": base, "near": near})


def test_how_hard_is_counted_over_many_draws(runs_folder, models, monkeypatch):
    monkeypatch.setattr(hard, "DRAWS", 5)
    st.cache_data.clear()
    model, tokenizer, vocab = models["en"]
    bars = figure(open_page("what_to_hide", part="How hard"), "how-hard")["data"][0]
    reading = read(tokenizer, vocab, ENGLISH, 64, False)
    hidden = guessed(model, [hide(reading, "span", vocab, RATE / 100, seed) for seed in range(5)], tokenizer.pad_id)
    share = sum(one.right for one in hidden) / sum(len(one.places) for one in hidden)
    assert numbers(bars["x"])[KINDS.index("span")] == pytest.approx(share)
    st.cache_data.clear()


def test_the_two_papers_stand_side_by_side(runs_folder):
    bars = figure(open_page("what_to_hide", part="Next sentence?"), "nsp-differences")["data"]
    drawn = [numbers(bar["x"]).round(2).tolist() for bar in bars]
    assert drawn == [[-0.5, -3.5, -0.2, -0.1, -0.6], [0.0, 0.4, 0.7, -0.4, 0.6]]


def test_three_words_are_the_models(runs_folder):
    model, tokenizer = checkpoint.load(TOYS / "spanbert"), checkpoint.load_tokenizer(TOYS / "spanbert")
    text = "nora lived near the museum with her sister lucy."
    app = open_page("what_to_hide", part="Three words", toy=text, first=5)
    ids = torch.tensor([tokenizer.encode(text).ids])
    labels = torch.full_like(ids, IGNORE)
    labels[0, 5:8] = ids[0, 5:8]
    ids[0, 5:8] = tokenizer.mask_id
    with torch.no_grad():
        out = model(Batch(ids, labels=labels))
    said = app.table[0].value.to_string()
    for logits in (out.mlm_logits, out.sbo_logits):
        for row in logits:
            assert f"{tokenizer.vocab[row.argmax()]} {row.softmax(-1).max():.0%}" in said
    assert "museum" in said
    app = open_page("what_to_hide", part="Three words", toy="nora")
    assert app.info and not app.table


# --- measured on the toy world ---------------------------------------------------------------------------------------


def test_runs_are_three_words_of_a_sentence_and_something_outside_decides():
    tokenizer = checkpoint.load_tokenizer(TOYS / "bert")
    told = stories(12, 5, "small")
    runs = hidden_runs(told, tokenizer, 128, most=1_000)
    assert len(runs) > 100
    for ids, at in runs:
        assert tokenizer.ids["."] not in ids[at : at + 2]  # at most at the end
    model = checkpoint.load(TOYS / "spanbert")
    found = span_accuracy(model, runs[:60], tokenizer)
    assert set(found) == {"span", "span_whole", "span_boundary"} and found["span_whole"] <= found["span"]
    assert set(span_accuracy(checkpoint.load(TOYS / "bert"), runs[:60], tokenizer)) == {"span", "span_whole"}
    asked, rivals = questions(told, tokenizer, 128)[:50], words_by_kind(told, tokenizer)
    assert 0 <= replaced_accuracy(model, asked, rivals, tokenizer.pad_id) <= 1
