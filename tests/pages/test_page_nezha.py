"""The NEZHA page: positions and distances, what a head hears of them, who still finds a word further to the right, the
arithmetic, and large batches: each against the model, or by hand."""

import re

import numpy as np
import pytest

from minibert import checkpoint
from minibert.inside.distances import expected, heard, score
from minibert.inside.half_precision import repeated
from minibert.toy import world
from minibert.toy.large_batches import RATES, BatchSettings, train_in_batches
from sections.nezha.layers import name_of
from sections.nezha.subject import STORIES
from tests.pages.driver import ROOT, figure, html_of, numbers, open_page, text_of, whole

FOLDER = ROOT / "checkpoints" / "nezha-toy"
TEXT = "felix was an eager boy. felix lost the scarf. he searched alone."
WORD = 11  # "he", from 0 ("." is a token)


@pytest.fixture(scope="module")
def models():
    return (
        checkpoint.load(FOLDER / "nezha"),
        checkpoint.load(FOLDER / "bert"),
        checkpoint.load_tokenizer(FOLDER / "nezha"),
    )


def columns(app) -> list[dict]:
    """The columns of the picture: the word, its position alone and now, its distance as heard."""
    found = re.findall(
        r'<li( class="here")?><span class="token"><bdi>(.*?)</bdi></span><span class="place">(.*?)</span>'
        r'<span class="far"><b>(.*?)</b></span></li>',
        html_of(app),
    )
    return [
        {
            "here": bool(here),
            "token": token,
            "places": [int(n) for n in re.findall(r"\d+", place)],
            "far": [int(n) for n in re.findall(r"[-+]?\d+", far.replace("−", "-"))],
        }
        for here, token, place, far in found
    ]


def test_positions_move_and_distances_do_not(runs_folder):
    alone, moved = (columns(open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=n)) for n in (0, 90))
    assert [column["token"] for column in alone] == [column["token"] for column in moved]
    assert [column["far"] for column in alone] == [column["far"] for column in moved]
    for place, (before, after) in enumerate(zip(alone, moved, strict=True)):
        assert before["places"] == [place + 1] and after["places"] == [place + 1, place + 91]
        assert before["far"] == [place - WORD] and before["here"] == (place == WORD)


def test_distances_are_clipped(runs_folder):
    for place, column in enumerate(columns(open_page("nezha", owner="me", text=TEXT, word=WORD + 1, k=3))):
        distance = place - WORD
        assert column["far"] == ([distance] if abs(distance) <= 3 else [distance, max(-3, min(3, distance))])


@pytest.mark.parametrize(("layer", "head", "k"), [(1, 1, 64), (2, 2, 3)])
def test_the_figures_are_what_a_head_hears(runs_folder, models, layer, head, k):
    app = open_page("nezha", owner="me", text=TEXT, word=WORD + 1, front=0, layer=layer, head=head, k=k)
    ids = models[2].encode(TEXT).ids
    one = heard(models[0], ids, layer - 1, head - 1, k)
    strips, bars = figure(app, "strips")["data"]
    vectors, added = one.vectors[1:-1, 1:-1][WORD], one.by_distance[1:-1, 1:-1]
    assert np.allclose(numbers(strips["z"]), vectors.numpy().T, atol=1e-5)
    assert np.allclose(numbers(bars["y"]), added[WORD].numpy(), atol=1e-4)
    cells = next(trace for trace in figure(app, "bias")["data"] if trace["type"] == "heatmap")
    assert np.allclose(numbers(cells["z"]), added.numpy(), atol=1e-4)


def test_who_still_finds_the_word_is_told_after_a_guess(runs_folder):
    app = open_page("nezha", owner="me")
    assert not figure(app, "shift-answers")
    app = whole(app.button(key="shift-show").click().run())
    assert figure(app, "shift-answers") and figure(app, "shift-curve")


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
    shares = {
        "NEZHA": expected(nezha, row, place, tokenizer.mask_id, 20),
        "BERT": expected(bert, row, place, tokenizer.mask_id),
    }
    finds = {name: bool(share.argmax() == right) for name, share in shares.items()}
    for name, share in shares.items():
        assert lines[name][front // 20] == pytest.approx(float(share[right]), abs=1e-4)
    options = {(True, True): "both", (True, False): "only NEZHA", (False, True): "only BERT", (False, False): "neither"}
    app = whole(app.button(key="shift-again").click().run())
    app = whole(app.button(key="shift-guess-0").click().run())
    assert f"**{options[finds['NEZHA'], finds['BERT']]}**" in text_of(app)
    table = app.table[0].value
    wanted = [
        f"{score(model, r, 0, 0, (p, p - 2)):.4f}"
        for model in (nezha, bert)
        for r, p in ((ids, 1 + WORD), (row, place))
    ]
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


def test_the_loss_is_scaled(runs_folder):
    app = open_page("nezha", owner="me", part="The arithmetic")
    zero, infinite = (numbers(line["y"]) for line in figure(app, "loss-scales")["data"])
    assert zero[0] > zero[6] and infinite[0] == 0 < infinite[-1]


def test_lamb_moves_every_matrix_by_the_same_share(runs_folder):
    app = open_page("nezha", owner="me", part="LAMB")
    adamw, lamb = (numbers(line["x"]) for line in figure(app, "layer-shares")["data"])
    assert lamb == pytest.approx([1e-3] * len(lamb), rel=1e-3)
    assert adamw.max() > 2 * adamw.min() > 0


def test_names_of_weights_are_short():
    assert name_of("bert.blocks.0.attn.query.weight") == "block 1 query"
    assert name_of("bert.embeddings.token.weight") == "token"


# --- large batches ----------------------------------------------------------------------------------------------------


@pytest.mark.trains
def test_two_optimizers_are_laid_over_each_other(runs_folder):
    from jobs.run import Run
    from tests.pages.finished_runs import ended
    from ui.runs import manager

    for name in RATES:
        settings = BatchSettings(name, 32, 64, stories=20, measurements=2, hidden_size=16, layers=1)
        events = [event.as_dict() for event in train_in_batches(settings)]
        kind, target = f"nezha-batches/{name}", "minibert.toy.large_batches:train_in_batches"
        ended(Run(manager(), manager().directory, "trains", name, kind, target), events, {})
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
