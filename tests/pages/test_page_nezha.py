"""The NEZHA page: positions and distances, what a head hears of them, who still finds a word further to the right: each
against the model, or by hand."""

import re

import numpy as np
import pytest

from minibert import checkpoint
from minibert.inside.relatives.distances import expected, heard, score
from minibert.toy import world
from sections.nezha.subject import STORIES
from tests.pages.driver import ROOT, figure, html_of, numbers, open_page, text_of, whole

FOLDER = ROOT / "checkpoints" / "nezha-toy"
TEXT = "felix was an eager boy. felix lost the scarf. he searched alone."
WORD = 11  # "he", from 0 ("." is a token)


@pytest.fixture(scope="module")
def models():
    return *(checkpoint.load(FOLDER / name) for name in ("nezha", "bert")), checkpoint.load_tokenizer(FOLDER / "nezha")


def columns(app) -> list[tuple[str, bool, list[int], list[int]]]:
    """The columns of the picture: the word, whether it is the one that hears, its position alone and now, its distance
    and as it is heard."""
    found = re.findall(
        r'<li( class="here")?><span class="token"><bdi>(.*?)</bdi></span><span class="place">(.*?)</span>'
        r'<span class="far"><b>(.*?)</b></span>',
        html_of(app),
    )
    return [(token, bool(here), integers(place), integers(far)) for here, token, place, far in found]


def integers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"[-+]?\d+", text.replace("−", "-"))]


def test_a_new_text_asks_for_a_word_that_the_models_know(runs_folder):
    app = open_page("nezha", text=TEXT)
    assert [token for token, here, *_ in columns(app) if here] == ["he"]
    app.text_input(key="text").set_value("北京 felix 😀 lost 你好 the scarf 你好").run()
    assert next(token for token, here, *_ in columns(app) if here) in ("felix", "lost", "the", "scarf")


def test_positions_move_and_distances_do_not(runs_folder):
    alone, moved = (columns(open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=n)) for n in (0, 90))
    for place, ((token, here, before, far), now) in enumerate(zip(alone, moved, strict=True)):
        assert here == (place == WORD) and before == [place + 1] and far == [place - WORD]
        assert now == (token, here, [place + 1, place + 91], far)


@pytest.mark.parametrize(("layer", "head", "k"), [(1, 1, 64), (2, 2, 3)])
def test_the_figures_are_what_a_head_hears(runs_folder, models, layer, head, k):
    link = {"text": TEXT, "word": WORD + 1, "front": 0, "layer": layer, "head": head, "k": k}
    app = open_page("nezha", owner="me", part="What a distance adds", **link)
    for place, (*_, far) in enumerate(columns(app)):
        distance = place - WORD
        assert far == ([distance] if abs(distance) <= k else [distance, max(-k, min(k, distance))])
    ids = models[2].encode(TEXT).ids
    one = heard(models[0], ids, layer - 1, head - 1, k)
    strips, bars = figure(app, "strips")["data"]
    vectors, added = one.vectors[1:-1, 1:-1][WORD], one.by_distance[1:-1, 1:-1]
    told = re.findall(r'<span class="(?:more|less)"[^>]*>(.*?)</span>', html_of(app))
    assert [float(text.replace("−", "-")) for text in told] == pytest.approx(added[WORD].tolist(), abs=0.051)
    cells = next(trace for trace in figure(app, "bias")["data"] if trace["type"] == "heatmap")
    for drawn, computed in ((strips["z"], vectors.T), (bars["y"], added[WORD]), (cells["z"], added)):
        assert np.allclose(numbers(drawn), computed.numpy(), atol=1e-4)


@pytest.mark.parametrize("front", [60, pytest.param(0, marks=pytest.mark.release)])
def test_shares_and_scores_are_the_models(runs_folder, models, front):
    app = open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=front, k=20)
    nezha, bert, tokenizer = models
    told = [word.text for story in world.stories(8, STORIES, "small") for word in story.words]
    before = [tokenizer.ids[word] for word in told[len(told) - front :]] if front else []
    ids = tokenizer.encode(TEXT).ids
    row, place = [ids[0], *before, *ids[1:]], 1 + front + WORD
    right = ids[1 + WORD]
    lines = {line["name"]: numbers(line["y"]) for line in figure(app, "shift-curve")["data"] if line.get("name")}
    finds = []
    for name, model, clip in (("NEZHA", nezha, [20]), ("BERT", bert, [])):
        share = expected(model, row, place, tokenizer.mask_id, *clip)
        finds.append(bool(share.argmax() == right))
        assert lines[name][front // 20] == pytest.approx(float(share[right]), abs=1e-4)
    options = {(True, True): "both", (True, False): "only NEZHA", (False, True): "only BERT", (False, False): "neither"}
    app = whole(app.button(key="shift-again").click().run())
    assert not figure(app, "shift-answers")
    app = whole(app.button(key="shift-guess-0").click().run())
    assert f"**{options[tuple(finds)]}**" in text_of(app) and figure(app, "shift-answers")
    table = app.table[0].value
    alone, moved = (ids, 1 + WORD), (row, place)
    wanted = [f"{score(model, r, 0, 0, (p, p - 2)):.4f}" for model in (nezha, bert) for r, p in (alone, moved)]
    assert [str(value) for value in table.iloc[:, 1:].to_numpy().flatten()] == wanted
    assert wanted[0] == wanted[1]  # NEZHA's does not move
    assert (wanted[2] == wanted[3]) == (front == 0)
