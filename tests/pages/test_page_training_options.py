"""What else can be set: each option shows what it does to the sentence, and no text is markup."""

import re
from functools import partial

import pytest

from minibert.finetune.option_effects import mean_change
from minibert.inside.costs.half_precision import repeated
from minibert.toy.large_batches import RATES, BatchSettings, train_in_batches
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import assert_no_markup, figure, html_of, text_of, title_of, whole
from tests.pages.finished_runs import run_of
from tests.pages.recorded import comparison_record, write_records
from ui.finetune_settings import rate_text

open_page = partial(driver.open_page, "training_options")
TEXTS = ("dropout", "mlm", "classifier", "metadata", "truncation", "texts", "augmentation")


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d[\d,.]*\d|\d", text))


def command(app, words: str) -> bool:
    """Whether a command on the page has these words."""
    return any(words in block.value for block in app.code)


@pytest.mark.parametrize("option", [*TEXTS, pytest.param("averaging", marks=pytest.mark.release)])  # which trains on it
def test_any_text_is_text(runs_folder, option):
    app = open_page(option=option)
    assert_no_markup(whole(app.text_input(key="text").set_value(EVERYTHING).run()))


@pytest.mark.parametrize("option", TEXTS)
def test_in_chinese_a_chinese_model_reads_chinese_reviews(runs_folder, option):
    app = open_page(option=option, lang="zh")
    assert "房间很小" in app.text_input(key="text").value and "[UNK]" not in html_of(app)
    if option not in ("truncation", "texts"):  # whose texts are of several columns, in English
        assert command(app, "lessons/data/reviews-zh/train.tsv")
    if option == "metadata":
        assert app.selectbox(key="column").options == ["kind"] and "[KIND=" in html_of(app)


def test_rates_decay_layer_by_layer_and_wait_for_a_guess(runs_folder):
    app = open_page()
    assert figure(app, "rates")["data"][0]["x"] == [0, 0, 0, 0, 0, 3e-4]
    bars = figure(whole(app.button(key="lowest-guess-0").click().run()), "rates")["data"][0]["x"]
    assert len(bars) == 6 and f"= {rate_text(bars[0], 1)}**" in text_of(app)
    app = open_page(decay="0.5")
    bars = figure(app, "rates")["data"][0]["x"]
    assert bars == pytest.approx([3e-4 * 0.5 ** (5 - i) for i in range(6)])
    bars = figure(whole(app.selectbox(key="freeze").set_value("2").run()), "rates")["data"][0]["x"]
    assert bars[:3] == [0.0, 0.0, 0.0] and all(bars[3:])
    assert command(app, "--layer-decay 0.5 --freeze 2")


def test_the_sum_of_two_losses_and_of_marks_learned_beside(runs_folder):
    app = open_page(option="mlm", weight="0.5")
    for marks in ([], ["topic", "kind"]):
        app = whole(app.multiselect(key="marks").set_value(marks).run())
        terms = [trace["x"][0] for trace in figure(app, "terms")["data"]]
        assert len(terms) == 2 + bool(marks) and f"= {sum(terms):.3f}" in title_of(app, "terms")
    assert command(app, "--auxiliary topic kind --auxiliary-weight 0.5")


def test_another_classifier_and_another_loss(runs_folder):
    app = open_page(option="classifier", depth=3, norm=2, loss=1)
    usual, focal, own = figure(app, "loss-curves")["data"]
    assert all(a <= b for a, b in zip(focal["y"], usual["y"], strict=True))
    assert command(app, "--classifier-depth 3 --classifier-activation tanh --classifier-norm batch")
    assert command(app, "--classifier-norm batch --loss focal --focal-gamma 2")
    assert own["y"][0] < 0.7 and "133,122" in numbers(text_of(app))
    app = open_page(option="classifier", depth=1, loss=3)
    assert len(figure(app, "loss-curves")["data"]) == 2 and "514" in numbers(text_of(app))


@pytest.mark.release
def test_the_mean_moves_less_than_the_weights(runs_folder):
    app = open_page(option="averaging", **{"mean-of": 1})
    last, mean = (trace["y"] for trace in figure(app, "answers")["data"])
    shares = figure(app, "shares")["data"][0]["y"]
    assert len(last) == len(mean) == 24 and shares == pytest.approx([1 / 24] * 24)
    assert mean_change(mean) < mean_change(last)
    assert "12" in numbers(text_of(app))  # of the 24 steps, half of what counts
    assert command(app, "--averaging 1 --learning-rate 0.001")


def test_masks_metadata_and_every_way_of_augmenting(runs_folder):
    assert {"16", "4.0"} <= numbers(text_of(open_page(option="dropout", masks=16)))  # more masks, less noise
    app = open_page(option="augmentation")
    assert all(f"**{method}**" in text_of(app) for method in ("mask", "replace", "drop", "swap"))
    assert "[MASK]" in html_of(app) and "[TOPIC=APP]" in html_of(open_page(option="metadata"))
    app = open_page(option="metadata", way="embedding")
    assert "[TOPIC=" not in html_of(app) and "**1**" in text_of(app)
    assert "**272**" in text_of(open_page(option="metadata", way="concatenated"))


def test_a_length_is_read_off_the_datas_own_texts_and_batches_stand_beside_what_was_measured(runs_folder):
    app = open_page(option="length")
    lengths = figure(app, "share-within")["data"][0]
    assert numbers(title_of(app, "share-within")) == {"71", "96"} and lengths["y"][-1] == 1
    fused, explicit, measured = figure(app, "rows-that-fit")["data"]
    assert all(a >= b for a, b in zip(fused["y"], explicit["y"], strict=True))
    assert measured["x"] == [64, 128, 256, 320, 384, 512] and measured["y"] == [64, 32, 16, 14, 12, 6]
    app.select_slider(key="tokens").set_value(128)
    app = whole(app.select_slider(key="memory").set_value(80).run())
    assert numbers(title_of(app, "share-within")) == {"100", "128"}
    assert len(figure(app, "rows-that-fit")["data"]) == 2  # nobody measured that card


def test_three_texts_share_the_row(runs_folder):
    app = open_page(option="texts", text="one two three four five six seven eight nine ten eleven twelve thirteen")
    assert {("12", "14"), ("4", "5")} <= set(re.findall(r"\*\*: (\d+) of (\d+)", text_of(app)))
    assert command(app, "--texts-beside title reply --max-length 24 --truncation budget --budgets 12 4 4")
    app = open_page(option="texts", three="answered")
    assert command(app, "--train lessons/data/answered/train.tsv") and command(app, "--texts-beside body answer")
    app = open_page(option="texts", text="a " * 60, cut=4)  # counted from 1: tail
    assert ("8", "60") in re.findall(r"\*\*: (\d+) of (\d+)", text_of(app))


def test_the_ways_to_cut_are_compared_by_score(results):
    app = open_page(option="truncation")
    assert figure(app, "cut-scores") is None
    found = {"head-32": 0.6, "head_tail-32": 0.9, "whole": 0.95}
    records = [comparison_record("truncation", arm, seed, score) for arm, score in found.items() for seed in (0, 1)]
    write_records(results / "mini-en", "truncation", records)
    assert open_page(option="truncation").selectbox(key="checkpoint").value == "mini-en"
    write_records(results / "minilm-en", "truncation", [])
    assert open_page(option="truncation").selectbox(key="checkpoint").value == "minilm-en"
    app = open_page(option="truncation", checkpoint="mini-en")
    assert numbers(title_of(app, "cut-scores")) == {"32", "90.0", "60.0"}
    papers = [trace["x"][0] for trace in figure(app, "cut-scores")["data"] if "94." in str(trace.get("text"))]
    assert papers == pytest.approx([94.37, 94.58])  # 100 − Sun et al.'s errors, of the arms that there are


def test_a_switch_stands_beside_what_it_changed(results):
    assert not (app := open_page(option="rates")).table
    assert command(app, "experiment options --seeds 3 --model checkpoints/mini-en")
    found = {"usual": [0.80, 0.82, 0.81], "decay": [0.84, 0.86, 0.86], "frozen": [0.79, 0.83, 0.84], "masks": [0.5]}
    records = [comparison_record("options", arm, n, one) for arm, some in found.items() for n, one in enumerate(some)]
    write_records(results / "mini-en", "options", records)
    (table,) = open_page(option="rates").table
    cells = table.value.to_numpy().tolist()
    assert [row[1] for row in cells] == ["81.0 ± 1.0", "85.3 ± 1.2", "82.0 ± 2.6"]
    assert [row[2] for row in cells[1:]] == ["+4.3 ± 1.4", "+1.0 ± 5.0"]
    app = open_page(option="texts")
    assert not app.table and not [block for block in app.code if "experiment" in block.value]  # nothing is claimed


# --- large runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("weight", "update", "vanishes"), [("1.0", "0.0001", True), ("0.02", "0.001", False)])
def test_a_small_update_is_added_for_nothing(runs_folder, weight, update, vanishes):
    app = open_page(option="half", weight=weight, update=update)
    half, master = repeated(float(weight), float(update), 1000)
    assert vanishes == (half[0] == half[-1])
    lines = [driver.numbers(line["y"]) for line in figure(app, "weight-paths")["data"]]
    assert lines[0] == pytest.approx(half) and lines[1] == pytest.approx(master)
    zero, infinite = (driver.numbers(line["y"]) for line in figure(app, "loss-scales")["data"])
    assert zero[0] > zero[6] and infinite[0] == 0 < infinite[-1]


def test_lamb_moves_every_matrix_by_the_same_share(runs_folder):
    app = open_page(option="lamb")
    adamw, lamb = (driver.numbers(line["x"]) for line in figure(app, "layer-shares")["data"])
    assert lamb == pytest.approx([1e-3] * len(lamb), rel=1e-3)
    assert adamw.max() > 1.5 * adamw.min() > 0


@pytest.mark.trains
def test_two_optimizers_are_laid_over_each_other(runs_folder):
    for name in RATES:
        settings = BatchSettings(name, 32, 64, stories=20, measurements=2, hidden_size=16, layers=1)
        run_of(train_in_batches(settings), f"nezha-batches/{name}", owner="trains", title=name)
    app = open_page(owner="trains", option="batches")
    curves = [line for line in figure(app, "batch-curves")["data"] if line.get("name")]
    colours = {line["name"]: line["line"]["color"] for line in curves}
    ratios = figure(app, "trust-ratios")["data"]
    assert [trace["name"] for trace in ratios] == ["adamw", "lamb"] and len(ratios[0]["x"]) == len(ratios[1]["x"])
    assert {trace["name"]: trace["marker"]["color"] for trace in ratios} == colours  # one colour an optimizer


def test_both_begin_at_twice_the_rules_rate(asked_for):
    app = open_page(owner="else", option="batches")
    app.select_slider(key="batch-rows").set_value(512)
    app.select_slider(key="rows-read").set_value(8_192)
    app.select_slider(key="rate-times").set_value(2)
    whole(app.button(key="train-batches").click().run())
    settings = [arguments[0] for _, arguments, _ in asked_for]
    assert settings == [BatchSettings(name, 512, 8_192, base_rate=2 * rate) for name, rate in RATES.items()]
