"""The NEZHA page: positions and distances, what a head hears of them, who still finds a word further to the right, the
arithmetic, and large batches: each against the model, or by hand."""

import re

import numpy as np
import pytest

from minibert import checkpoint
from minibert.inside.costs.half_precision import repeated
from minibert.inside.relatives.distances import expected, heard, score
from minibert.toy import world
from minibert.toy.large_batches import RATES, BatchSettings, train_in_batches
from sections.nezha.subject import STORIES
from tests.pages.driver import ROOT, figure, html_of, numbers, open_page, text_of, whole
from tests.pages.finished_runs import run_of

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
        r'<span class="far"><b>(.*?)</b></span></li>',
        html_of(app),
    )
    return [(token, bool(here), integers(place), integers(far)) for here, token, place, far in found]


def integers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"[-+]?\d+", text.replace("−", "-"))]


def test_positions_move_and_distances_do_not(runs_folder):
    alone, moved = (columns(open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=n)) for n in (0, 90))
    for place, ((token, here, before, far), now) in enumerate(zip(alone, moved, strict=True)):
        assert here == (place == WORD) and before == [place + 1] and far == [place - WORD]
        assert now == (token, here, [place + 1, place + 91], far)


@pytest.mark.parametrize(("layer", "head", "k"), [(1, 1, 64), (2, 2, 3)])
def test_the_figures_are_what_a_head_hears(runs_folder, models, layer, head, k):
    app = open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=0, layer=layer, head=head, k=k)
    for place, (*_, far) in enumerate(columns(app)):
        distance = place - WORD
        assert far == ([distance] if abs(distance) <= k else [distance, max(-k, min(k, distance))])
    ids = models[2].encode(TEXT).ids
    one = heard(models[0], ids, layer - 1, head - 1, k)
    strips, bars = figure(app, "strips")["data"]
    vectors, added = one.vectors[1:-1, 1:-1][WORD], one.by_distance[1:-1, 1:-1]
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


# --- the arithmetic ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("weight", "update", "vanishes"), [("1.0", "0.0001", True), ("0.02", "0.001", False)])
def test_a_small_update_is_added_for_nothing(runs_folder, weight, update, vanishes):
    app = open_page("nezha", owner="me", part="The arithmetic", weight=weight, update=update)
    half, master = repeated(float(weight), float(update), 1000)
    assert vanishes == (half[0] == half[-1])
    lines = [numbers(line["y"]) for line in figure(app, "weight-paths")["data"]]
    assert lines[0] == pytest.approx(half) and lines[1] == pytest.approx(master)
    zero, infinite = (numbers(line["y"]) for line in figure(app, "loss-scales")["data"])
    assert zero[0] > zero[6] and infinite[0] == 0 < infinite[-1]


def test_lamb_moves_every_matrix_by_the_same_share(runs_folder):
    app = open_page("nezha", owner="me", part="LAMB")
    adamw, lamb = (numbers(line["x"]) for line in figure(app, "layer-shares")["data"])
    assert lamb == pytest.approx([1e-3] * len(lamb), rel=1e-3)
    assert adamw.max() > 2 * adamw.min() > 0


# --- large batches ----------------------------------------------------------------------------------------------------


@pytest.mark.trains
def test_two_optimizers_are_laid_over_each_other(runs_folder):
    for name in RATES:
        settings = BatchSettings(name, 32, 64, stories=20, measurements=2, hidden_size=16, layers=1)
        run_of(train_in_batches(settings), f"nezha-batches/{name}", owner="trains", title=name)
    app = open_page("nezha", owner="trains", part="Batches")
    curves = [line for line in figure(app, "batch-curves")["data"] if line.get("name")]
    colours = {line["name"]: line["line"]["color"] for line in curves}
    ratios = figure(app, "trust-ratios")["data"]
    assert [trace["name"] for trace in ratios] == ["adamw", "lamb"] and len(ratios[0]["x"]) == len(ratios[1]["x"])
    assert {trace["name"]: trace["marker"]["color"] for trace in ratios} == colours  # one colour an optimizer


def test_both_begin_at_twice_the_rules_rate(asked_for):
    app = open_page("nezha", owner="else", part="Batches")
    app.select_slider(key="batch-rows").set_value(512)
    app.select_slider(key="rows-read").set_value(8_192)
    app.select_slider(key="rate-times").set_value(2)
    whole(app.button(key="train-batches").click().run())
    settings = [arguments[0] for _, arguments, _ in asked_for]
    assert settings == [BatchSettings(name, 512, 8_192, base_rate=2 * rate) for name, rate in RATES.items()]
