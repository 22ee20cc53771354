"""The embeddings page: its points, neighbours and curves against minibert's own, its links, hostile text."""

import re
import tomllib
from functools import cache, partial

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics.pairwise import cosine_similarity

from minibert.inside.geometry.analogies import answers, share_right
from minibert.inside.geometry.vectors import nearest, sentence_vectors, separability, span_vectors
from sections.embeddings.analogies import table_of
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, captions, figure, numbers, plain, sent, text_of, title_of, whole
from tests.waiting import until
from ui.model_cache import load, version_of
from ui.model_registry import available_models, peers
from ui.model_widgets import WELL_READ
from ui.samples import senses, similar_pairs, similar_parts

MODEL = available_models()[0].name
open_page = partial(driver.open_page, "embeddings")
SENSES, SENTENCE, BESIDE = "Two meanings", "A vector for a sentence", "Sentences beside each other"
compared = partial(open_page, part=BESIDE, model=MODEL)
pytestmark = pytest.mark.usefixtures("runs_folder")


@cache
def bank(*own: str):
    """(vectors (L + 1, 16 and more, H), senses, sentences) of the word bank. own: more sentences with it."""
    loaded, rows = load(MODEL), senses("en")["bank"]
    texts = [*(text for _, text in rows), *own]
    spans = [[(text.lower().index("bank"), text.lower().index("bank") + 4)] for text in texts]
    return span_vectors(loaded.model, loaded.tokenizer, texts, spans), [sense for sense, _ in rows], texts


def test_it_opens_with_one_word_at_every_layer():
    app = open_page()
    told = sent(app)
    layers = load(WELL_READ).config.num_hidden_layers + 1
    assert [len(points) for points in told["points"]] == [16] * layers
    assert [group["name"] for group in told["groups"]] == ["money", "river"]
    assert told["layer"] == layers - 1 and told["rise"]
    assert not app.error


def test_a_star_is_guessed_before_it_is_shown():
    own = "He fished from the bank."
    app = open_page()
    whole(app.text_area(key="own").set_value(f"{own}\nNo such word here.").run())
    assert len(sent(app)["titles"]) == 16
    app.button(key="star-guess-0").click()
    told = sent(whole(app.run()))
    assert len(told["titles"]) == 17
    assert told["groups"][told["of"][-1]] == told["groups"][-1]
    assert (told["groups"][-1]["name"], told["groups"][-1]["shape"]) == ("yours", "star")
    vectors, meanings, _texts = bank(own)
    ((closest, _cosine),) = nearest(vectors[-1][:-1], vectors[-1][-1], 1)
    assert meanings[closest] == "river" and "**river**" in text_of(app)


def test_the_poolings_have_a_part_of_their_own():
    app = open_page(part=SENTENCE, centre="true")
    assert figure(app, "poolings") and not app.get("bidi_component")
    assert figure(open_page(word="bat"), "poolings") is None


def test_the_link_brings_layer_and_point_and_the_neighbours_are_the_nearest():
    app = open_page(model=MODEL, layer=2, point=3)
    told = sent(app)
    assert (told["layer"], told["chosen"], told["rise"]) == (2, 2, False)
    vectors, meanings, texts = bank()
    expected = nearest(vectors[2], vectors[2][2], 5, leave_out=2)
    assert told["near"][2] == [i for i, _ in expected]
    table = next(frame.value for frame in app.dataframe if "cosine" in frame.value)
    assert list(table["point"]) == [texts[i] for i, _ in expected]
    assert list(table["cosine"]) == [round(cosine, 3) for _, cosine in expected]
    same = sum(meanings[i] == meanings[2] for i, _ in expected)
    assert re.search(rf"\b{same} of 5\b.*\*\*{meanings[2]}\*\*", text_of(app))
    counts = [round(separability(layer, meanings).nearest * 16) for layer in vectors]
    assert [int(re.search(r"(\d+) of 16", finding)[1]) for finding in told["findings"]] == counts


@pytest.mark.parametrize(("what", "least"), [("words", 200), ("sentences", 160), ("tokens", 15)])
def test_words_sentences_and_tokens_have_points_too(what, least):
    told = sent(open_page(what=what))
    assert len(told["titles"]) >= least
    assert len(told["groups"]) >= 2 or what == "tokens"
    kinds = [told["groups"][of]["name"] for of in told["of"]]
    articles = {kind for title, kind in zip(told["titles"], kinds, strict=True) if title.startswith("the: ")}
    assert articles == ({"determiner"} if what == "words" else set())


def test_all_words_and_side_by_side():
    app = open_page(model=MODEL, word="*", view="all")
    assert len(figure(app, "side-by-side")["data"]) == (load(MODEL).config.num_hidden_layers + 1) * 12
    assert not app.get("bidi_component")


@pytest.mark.release
def test_the_curve_of_senses_is_that_of_the_vectors():
    app = open_page(part=SENSES, model=MODEL, of="bank")
    vectors, meanings, _ = bank()
    (line,) = [
        trace
        for trace in figure(app, "separability")["data"]
        if trace.get("name") == "bank" and trace.get("marker", {}).get("symbol") == "diamond" and trace["yaxis"] == "y"
    ]
    values = [separability(layer, meanings).nearest for layer in vectors]
    assert numbers(line["y"]) == pytest.approx(values)


@pytest.mark.release
@pytest.mark.trains
def test_a_picture_is_computed_as_a_run_and_found_again():
    from ui.runs import manager

    app = open_page(model=MODEL, method="tsne")
    before = sent(app)["points"]
    whole(app.button(key="compute").click().run())
    runs = [run for run in manager().runs() if run.kind.startswith("computed/tsne-")]
    until(lambda: all(run.over for run in runs))
    assert [run.state for run in runs] == ["finished"], [run.error for run in runs]
    whole(app.run())
    assert sent(app)["points"] == [event["points"] for event in runs[0].events() if event["event"] == "picture"]
    assert sent(app)["points"] != before
    again = open_page(model=MODEL, method="tsne")  # another visitor
    assert not [button for button in again.button if button.key == "compute"]
    assert sent(again)["points"] == sent(app)["points"]


def test_chinese_has_its_own_words():
    zh = next(info.name for info in available_models() if info.name.endswith("zh"))
    assert [group["name"] for group in sent(open_page(model=zh, word="花"))["groups"]] == ["植物", "用掉"]
    assert len(figure(open_page(model=zh, part=SENTENCE), "poolings")["data"]) >= 3
    words = sent(open_page(model=zh, what="words"))
    assert len(words["titles"]) > 50
    assert {"noun", "verb", "adjective"} <= {group["name"] for group in words["groups"]}
    assert not open_page(model=MODEL, **{"examples-en": "zh"}).error  # a model that reads none of it


MATRICES = "sentences", "beside-them"


def matrix(app, place: int = 0) -> list[list[float]]:
    return figure(app, MATRICES[place])["data"][0]["z"]


def test_the_sentences_of_a_class_are_compared_by_two_models():
    lines = ["The dog sleeps.", "A puppy takes a nap.", "Taxes rose."]
    app = compared(**{"sentences-en": "\n".join(["", *lines, " ... "]), "beside": "untrained"})
    for place, name in enumerate(("mini-en", "untrained")):
        loaded = load(name)
        expected = cosine_similarity(sentence_vectors(loaded.model, loaded.tokenizer, lines, ("mean",))["mean"][-1])
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(np.array(matrix(app, place), float)[off], expected[off], atol=1e-5)
    title = title_of(app, "sentences")
    best = max(((0, 1), (0, 2), (1, 2)), key=lambda pair: matrix(app)[pair[0]][pair[1]])
    assert f"{best[0] + 1} and {best[1] + 1}" in title


def test_the_layer_is_in_the_link_and_the_other_model_is_as_deep():
    depth = load("mini-en").config.num_hidden_layers
    app = compared(beside="minilm-en", **{f"sentence-layer-{depth}": 1})
    panels = [plain(note["text"]) for key in MATRICES for note in figure(app, key)["layout"]["annotations"]]
    assert all(any(f"{name}, layer 0" in text for text in panels) for name in ("mini-en", "minilm-en"))
    assert matrix(app) != matrix(compared(beside="minilm-en"))


def test_without_the_original_only_the_comparison_is_missing(monkeypatch):
    from minibert.sentence_vectors import packaged

    missing = packaged.Packaged("all-MiniLM-L6-v2", "en", "no-such-weights==1", "x", "0" * 64)
    monkeypatch.setattr(packaged, "PACKAGED", {missing.name: missing})
    app = compared(beside="all-MiniLM-L6-v2")
    assert missing.command in captions(app)
    assert all(figure(app, key) for key in MATRICES) and not app.error
    assert not any("all-MiniLM" in chart.proto.alt for chart in app.get("plotly_chart"))


def test_in_chinese_a_chinese_encoder_stands_beside():
    if "multilingual-e5-small-zh" not in [info.name for info in peers("zh")]:
        pytest.skip("it is not installed (requirements-models.txt)")
    app = open_page(part=BESIDE, model="mini-zh")
    assert app.selectbox(key="beside").options[0] == app.selectbox(key="beside").value == "multilingual-e5-small-zh"
    assert "mini-zh: 1 and 2" in title_of(app, "sentences") and "zh: 1 and 3" in title_of(app, "sentences")


def test_agreement_with_scores_is_that_of_the_held_out_pairs_and_the_original_stands_beside():
    app = compared()
    if "all-MiniLM-L6-v2" in [info.name for info in peers("en")]:  # it is installed (requirements-models.txt)
        assert app.selectbox(key="beside").value == "all-MiniLM-L6-v2"
        assert "all-MiniLM-L6-v2: 4 and 5" in title_of(app, "sentences")
    loaded, pairs = load("mini-en"), similar_parts("en")[-1]
    first, second, scores = zip(*pairs, strict=True)
    left, right = (sentence_vectors(loaded.model, loaded.tokenizer, x, ("mean",))["mean"][-1] for x in (first, second))
    expected = spearmanr(np.diag(cosine_similarity(left, right)), scores).statistic
    fig = figure(app, "against-scores")
    names = [plain(name) for name in fig["layout"]["yaxis"]["ticktext"]]
    assert fig["data"][names.index("<b>mini-en</b>")]["x"][0] == pytest.approx(expected, abs=1e-3)
    assert f"{len(pairs)} pairs" in fig["layout"]["xaxis"]["title"]["text"]
    assert "minilm-en" in names and any("random" in name for name in names)


@pytest.mark.release
def test_a_search_finds_the_nearest_of_our_sentences():
    app = compared(beside="untrained", **{"query-en": "The ferry takes cars."})
    loaded = load("mini-en")
    sentences = list(dict.fromkeys(text for *pair, _score in similar_pairs("en") for text in pair))
    texts = [*sentences, "The ferry takes cars."]
    vectors_ = sentence_vectors(loaded.model, loaded.tokenizer, texts, ("mean",))["mean"][-1]
    (found,) = [block for block in app.markdown if plain(block.value).startswith("**mini-en, layer")]
    for i, cosine in nearest(vectors_[:-1], vectors_[-1], 3):
        assert f"**{cosine:.2f}** {sentences[i]}" in plain(found.value)


def test_one_sentence_or_too_many_is_no_error():
    app = compared(**{"sentences-en": "only one"})
    assert figure(app, "sentences") is None and app.info and not app.error
    assert len(matrix(compared(**{"sentences-en": "\n".join("abcdefghijkl")}))) == 8


@pytest.mark.release
@pytest.mark.parametrize("name", ["mini-en", "minilm-en"])
def test_the_random_weights_have_the_shape_of_the_model(name):
    app = open_page(model=name, part=SENSES)
    drawn = [*figure(app, "separability")["data"], *figure(app, "silhouettes")["data"]]
    lines = [trace for trace in drawn if "random" in (trace.get("name") or "")]
    assert [len(numbers(line["y"])) for line in lines] == [load(name).config.num_hidden_layers + 1] * 2


@pytest.mark.parametrize("text", [EVERYTHING, ""], ids=["everything", "nothing"])
def test_any_text_is_text(text):
    app = open_page(what="tokens")
    assert_no_markup(whole(app.text_input(key="text").set_value(text).run()))
    app = open_page(what="sentences")
    assert_no_markup(whole(app.text_area(key="own").set_value(text).run()))
    app = compared(beside="untrained")
    app.text_area(key="sentences-en").set_value(f"{text}\nA second line.\n{text}")
    assert_no_markup(whole(app.text_input(key="query-en").set_value(text).run()))


def test_bad_links_fall_back():
    wrong = {"layer": 99, "point": -4, "what": "no", "method": "no", "word": "no", "sentence-layer-4": 99}
    app = open_page(**wrong, part="no")
    assert sent(app)["chosen"] is None and not app.error


def test_sums_with_words_are_those_of_the_table_and_a_word_it_has_not_is_named():
    kinds = tomllib.loads((ROOT / "lessons" / "embeddings" / "analogies.toml").read_text(encoding="utf-8"))["en"]
    app = open_page(part="Sums", model="mini-en")
    table = table_of("mini-en", version_of("mini-en"))
    best = answers(table, "father", "brother", "mother", 1)[0][0]
    assert f"father : brother = mother : **{best}**" in text_of(app)
    drawn = next(trace for trace in figure(app, "analogies")["data"] if trace["name"] == "mini-en")
    shares = sorted(share_right(table, pairs)[0] for pairs in kinds.values())
    assert sorted(drawn["x"]) == pytest.approx(shares)
    app.toggle(key="with-own").set_value(True)
    whole(app.run())
    assert f"mother : **{answers(table, 'father', 'brother', 'mother', 1, False)[0][0]}**" in text_of(app)
    for text in ("zwiebelfisch", EVERYTHING[:40]):
        app.text_input(key="sum-en-1").set_value(text)
        assert_no_markup(whole(app.run()))
        assert len(app.info) == 1, text
