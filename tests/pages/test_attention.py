"""The attention page: what it shows is what the model computed, for any text and any link."""

import math
import re

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from minibert.inside.explanations.interventions import (
    edited,
    fill_in,
    head_effects,
    one_pattern,
    order_effect,
    scale_scores,
    shuffled,
    total_variation,
)
from minibert.inside.heads.arithmetic import all_probs, crossing, disagreement, entropy, record, take_apart
from minibert.inside.model_input import ModelInput
from minibert.inside.relatives.recurrent import read as read_through
from minibert.model import Batch, SelfAttention
from sections.attention import small_numbers
from sections.attention.rnn_reader import networks
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, formulas, html_of, metrics, numbers, sent, text_of, whole
from ui.lesson import Lesson
from ui.model_cache import load
from ui.model_registry import UNTRAINED, available_models
from ui.source import source_of
from ui.text import tex

LESSON = Lesson("attention")
TEXT = "The man bit the dog."
PARTS = ("One head", "In small numbers", "All heads", "Break it", "Against an RNN", "Weights and reasons")
VIEWS = ("gates", "forgets", "directions", "bottleneck")  # of what a recurrent network reads


def open_page(part: str = PARTS[0], **query) -> AppTest:
    """The page with one of its parts open, the untrained model and its first head, unless the query says otherwise."""
    assert part in PARTS
    usual = {"model": UNTRAINED, "part": part, "sentence": TEXT, "layer": 1, "head": 1, "row": 2}
    return driver.open_page("attention", **usual | query)


@pytest.fixture(scope="module")
def model():
    return load(UNTRAINED).model


@pytest.fixture(scope="module")
def reading():
    return ModelInput.of(load(UNTRAINED).tokenizer, TEXT, max_length=18)


def chart(app: AppTest, key: str) -> dict:
    return figure(app, f"attention-{key}")


def shown(app: AppTest, key: str) -> list[list[str]]:
    """What the squares of a matrix say when the mouse is on them: "from → to: number"."""
    return [text.split("<b>")[-1].removesuffix("</b>") for text in chart(app, key)["data"][1]["text"]]


def assert_leads_to(app: AppTest, tap: str) -> None:
    """The line of code that the page names is the model's, with this tap."""
    ((file, line),) = [found for box in app.expander for found in re.findall(r"`(.+):(\d+)`", box.label)]
    assert f'tap("{tap}"' in (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert file == source_of(SelfAttention)[2] == "minibert/model.py"


def places(app: AppTest) -> dict[str, int]:
    """Which layer, head, row and column are chosen."""
    return {box.label: box.value for box in app.selectbox}


def alt_of(app: AppTest, key: str) -> str:
    return next(c.proto.alt for c in app.get("plotly_chart") if c.proto.id.endswith(f"-attention-{key}"))


@pytest.mark.parametrize(("step", "tap"), enumerate(("scores", "scores", "probs", "probs"), 2))
def test_each_matrix_is_the_models_own_and_leads_to_its_line(model, reading, step, tap):
    app = open_page(step=step, layer=2, head=3, padding=2)
    padded = reading.padded(2)
    one = take_apart(model, padded.batch(), record(model.bert, padded.batch()), 1, 2)
    expected = (one.products, one.scores, one.masked, one.probs)[step - 2]
    cells = [cell.replace("−", "-").replace("∞", "inf") for cell in shown(app, "pairs")]
    assert [float(cell) for cell in cells] == pytest.approx(expected.flatten().tolist(), abs=6e-5)
    assert_leads_to(app, tap)


@pytest.mark.parametrize(
    ("query", "terms", "cell"),
    [
        ({"step": 1, "matrix": 2, "row": 2, "number": 7}, lambda one: one.projection_terms("key", 1, 6), "k_{2}[7]"),
        ({"step": 2, "row": 3, "column": 5}, lambda one: one.score_terms(2, 4), r"q_{3} \cdot k_{5}"),
        ({"step": 6, "row": 2, "number": 5}, lambda one: one.mix_terms(1, 4), "z_{2}[5]"),
    ],
)
def test_a_cell_is_the_sum_of_the_products_shown(model, reading, query, terms, cell):
    app = open_page(padding=0, **query)
    assert_leads_to(app, {1: "key", 2: "scores", 6: "mixed"}[query["step"]])
    total = terms(take_apart(model, reading.batch(), record(model.bert, reading.batch()), 0, 0))
    assert cell in formulas(app) and f"\\mathbf{{{total.total:.4f}}}" in formulas(app)
    tables = [block.value for block in app.dataframe]
    assert len(tables) == (query["step"] < 6), "of a mix the bars are enough"
    for table in tables:
        assert len(table) == len(total.terms)
        assert table["sum so far"].iloc[-1] + total.constant == pytest.approx(total.total, abs=1e-12)


def test_softmax_divides_by_the_sum_of_the_row(model, reading):
    app = open_page(step=5, row=2, column=4, padding=0)
    one = take_apart(model, reading.batch(), record(model.bert, reading.batch()), 0, 0)
    assert f"\\mathbf{{{one.probs[1, 3].item():.4f}}}" in formulas(app)
    texts = [note["text"] for note in chart(app, "softmax")["layout"]["annotations"]]
    assert len(texts) == reading.length
    assert f"{one.probs[1, 3].item():.3f}" in texts[3] and texts[3].startswith("<b>")
    assert sum(float(text.strip("</b>").split(" = ")[1]) for text in texts) == pytest.approx(1, abs=0.01)


def test_the_mask_closes_what_is_padding():
    app = open_page(step=4, padding=3, column=9)
    assert r"\mathbf{-\infty}" in formulas(app) and not app.info
    assert open_page(step=4, padding=0).info, "nothing is closed"


@pytest.mark.parametrize(
    ("part", "view", "names"),
    [
        ("One head", "", "step layer head row column number matrix padding model"),
        ("Break it", "", "hide break factor behind order"),
        ("Against an RNN", "steps", "source target hidden tokens counting"),
        ("Against an RNN", "gates", "gate read unit"),
        ("Against an RNN", "forgets", "behind_it"),
        ("Weights and reasons", "", "hide tested edit"),
    ],
)
def test_a_bad_link_breaks_nothing(part, view, names):
    for bad in ("99", "<img>"):
        app = open_page(part, rnn=view, **dict.fromkeys(names.split(), bad))
        assert part != "One head" or places(app) == places(driver.open_page("attention", sentence=TEXT))


def test_the_page_begins_with_the_head_that_has_most_to_show_and_waits_for_a_guess():
    app = driver.open_page("attention")
    asked = sent(app)
    assert asked["asked"] and not any(map(any, asked["probs"]))
    assert not [one for one in app.button if one.key == "best-head"]
    assert not app.query_params, "a page that was only opened is one step in the browser's history"
    options = [one.label for one in app.button if one.key.startswith("arcs-guess-")]
    assert {"dog", "cat"} <= set(options)
    app.button(key="arcs-guess-0").click()
    told = sent(whole(app.run()))
    row, tokens = told["row"], told["tokens"]
    assert not told["asked"] and tokens[row] == "it" and told["stage"] == 0
    shares = dict(zip(tokens, told["probs"][row], strict=True))
    assert f"**{max(options, key=shares.__getitem__)}**" in text_of(app)

    loaded = load("minilm-en")
    reading = ModelInput.of(loaded.tokenizer, LESSON.examples[0])
    seen = record(loaded.model.bert, reading.batch())
    probs = all_probs(seen)[:, 0]
    both = probs[:, :, row, tokens.index("dog")] + probs[:, :, row, tokens.index("cat")]  # (L, A)
    at = places(app)["Layer"], places(app)["Head"]
    assert both[at] == both.max() > 0.4
    assert torch.allclose(torch.tensor(told["probs"]), probs[at], atol=6e-5)
    one = take_apart(loaded.model, reading.batch(), seen, *at)
    assert torch.allclose(torch.tensor(told["mixed"]), one.mixed, atol=6e-4)
    assert f"{probs[at][row, tokens.index('cat')].item():.0%}" in told["findings"][row]


def test_a_head_with_more_to_show_is_a_click_away():
    app = driver.open_page("attention", sentence=LESSON.examples[0], layer=1, head=1)
    app.button(key="best-head").click()
    whole(app.run())
    assert (places(app)["Layer"], places(app)["Head"]) == (5, 11)


@pytest.mark.parametrize(
    ("part", "query", "there"),
    [
        ("In small numbers", {}, set()),
        ("All heads", {}, {"sentence", "model", "second", "choice-layer", "choice-head"}),
        ("Break it", {}, {"sentence", "model", "second", "choice-layer", "choice-head"}),
        ("Break it", {"break": "positions"}, {"sentence", "model", "second"}),
        ("Against an RNN", {}, {"sentence"}),
        ("Against an RNN", {"rnn": "steps"}, {"sentence", "model", "second"}),
        ("Weights and reasons", {}, {"sentence", "model", "second"}),
    ],
)
def test_what_a_part_does_not_read_is_not_above_it_and_comes_back_with_its_value(part, query, there):
    chosen = {"model": UNTRAINED, "second": "It was old.", "padding": 4, "choice-layer": 1, "choice-head": 2}
    link = {"second": chosen["second"], "padding": 4, "layer": 2, "head": 3}

    def above(app: AppTest) -> dict:
        drawn = {one.key: one.value for one in (*app.selectbox, *app.text_input, *app.slider)}
        return {key: drawn[key] for key in ("sentence", *chosen) if key in drawn}

    app = driver.part(open_page(**link, **query), part)
    assert set(above(app)) == there
    assert link.keys() <= app.query_params.keys()
    assert above(driver.part(app, PARTS[0])) == {"sentence": TEXT} | chosen
    assert above(driver.part(open_page(part, **link, **query), PARTS[0])) == {"sentence": TEXT} | chosen


def test_weights_that_explain_and_weights_that_do_not():
    said = re.findall(r"\*\*([+−][\d.]+)", text_of(open_page("Weights and reasons", model="minilm-en")))
    hardly, well, *_ = (float(rho.replace("−", "-")) for rho in said)  # rank correlations
    assert hardly < 0.4 and well > 0.9


def test_all_heads_are_there_on_one_scale_and_why_many(model, reading):
    app = open_page("All heads", padding=0, hide=2)
    probs = all_probs(record(model.bert, reading.batch()))[:, 0]
    assert numbers(chart(app, "heads")["data"][1]["x"]).size == probs.size(0) * probs.size(1)
    assert f"{entropy(probs).mean(-1)[0, 0].item():.2f}" in text_of(app)
    traces = [trace for key in ("heads", "opened-head") for trace in chart(app, key)["data"]]
    assert {(trace.get("zmin"), trace.get("zmax")) for trace in traces if trace["type"] == "heatmap"} == {(0, 1)}
    hidden = reading.hiding(2).batch()
    differ = disagreement(all_probs(record(model.bert, hidden))[:, 0]).mean().item()
    assert metrics(app)["Two heads of a layer differ in"] == f"{differ:.1%}"
    before, after = (fill_in(model, hidden, 2, tap)[0] for tap in (lambda name, x: x, one_pattern))
    assert metrics(app)["One pattern for all: what moves"] == f"{total_variation(before, after).item():.1%}"


def test_without_the_root_rows_are_measured_and_guesses_are_the_models(model, reading):
    app = open_page("Break it", hide=2, factor=4)
    hidden, tap = reading.hiding(2).batch(), scale_scores(4)
    probs = all_probs(record(model.bert, hidden, tap))
    assert metrics(app)["Entropy of a row, bits"] == f"{entropy(probs).mean().item():.2f}"
    assert metrics(app)["Largest share of a row"] == f"{probs.amax(-1).mean().item():.1%}"
    before, after = fill_in(model, hidden, 2)[0], fill_in(model, hidden, 2, tap)[0]
    assert total_variation(before, after) > 0
    vocab = load(UNTRAINED).tokenizer.vocab
    for guess in (before, after):
        assert f"{vocab[guess.argmax()]} {guess.max().item():.1%}" in alt_of(app, "root-words")


def test_of_a_long_pair_all_is_read_and_what_stands_around_the_border_is_drawn(model):
    text = " ".join(["dog"] * 60)
    pair = ModelInput.of(load(UNTRAINED).tokenizer, text, "It ran.")
    there, _back = crossing(all_probs(record(model.bert, pair.batch()))[:, 0], torch.tensor(pair.segments).bool())
    app = open_page("Break it", sentence=text, second="It ran.")
    assert metrics(app)["First → second sentence"] == f"{there:.1%}"
    *_others, alone = re.findall(r'<ol class="mb-tokens.*?</ol>', html_of(app))
    assert alone.count("mask 0") == pair.segments.count(1) and "[SEP]" in alone and "[CLS]" not in alone


def test_without_the_mask_padding_takes_its_share():
    none, some = (metrics(open_page("Break it", **{"break": "mask", "behind": count})) for count in (0, 5))
    assert 0 < float(some["Attention that goes to padding"].rstrip("%")) < 100
    assert none["Attention that goes to padding"] == none["Probability that moved"] == "0.0%"


def test_without_positions_only_rounding_is_left(model, reading):
    app = open_page("Break it", **{"break": "positions", "order": "reversed"})
    assert re.search(r" (0|\d × 10⁻[⁵⁶⁷⁸]) ", driver.captions(app))
    hidden = reading.hiding(reading.words[-2])
    moved = order_effect(model, hidden, hidden.new_order("reversed"), reading.words[-2]).moved
    assert f"{moved.mean().item():.2f}" in alt_of(app, "order")


@pytest.mark.parametrize("edit", ["shuffled", "evened", "removed"])
def test_a_tested_head_moves_what_is_measured(edit):
    name = available_models(fill=True)[0].name  # of random weights no head moves a tenth of a percent
    model, reading = load(name).model, ModelInput.of(load(name).tokenizer, TEXT, max_length=18)
    app = open_page("Weights and reasons", model=name, edit=edit, tested=2, hide=2)
    hidden = reading.hiding(2).batch()
    if edit == "shuffled":  # one deal here, the mean of several in the figure
        everyone = torch.ones(reading.length, dtype=torch.bool)
        deal = edited([shuffled(0, 1, everyone, torch.Generator().manual_seed(0))])
        expected = total_variation(fill_in(model, hidden, 2, deal)[0], fill_in(model, hidden, 2)[0]).item()
    else:
        expected = getattr(head_effects(model, hidden, 2), edit).flatten()[1].item()
    assert metrics(app)["Probability that moved"] == f"{expected:.1%}"
    assert expected > 5e-4


def test_the_head_that_moves_the_answer_most_is_tested_first():
    name = available_models(fill=True)[0].name
    model, tokenizer = load(name).model, load(name).tokenizer
    app = open_page("Weights and reasons", model=name, hide=2)
    for text in (TEXT, "The keys were lost."):
        hidden = ModelInput.of(tokenizer, text).hiding(2).batch()
        app.text_input(key="sentence").set_value(text)
        assert whole(app.run()).selectbox(key="choice-tested").value == head_effects(model, hidden, 2).shuffled.argmax()


@pytest.mark.parametrize("turn", [30, 195])
def test_small_numbers_are_scaled_dot_product_attention(turn):
    app = open_page("In small numbers", turn=turn)
    angle = torch.tensor(math.radians(turn), dtype=torch.float64)
    query = small_numbers.LENGTH * torch.stack([angle.cos(), angle.sin()])[None]
    keys, values = (
        torch.tensor(list(rows.values()), dtype=torch.float64) for rows in (small_numbers.KEYS, small_numbers.VALUES)
    )
    mixed = torch.nn.functional.scaled_dot_product_attention(query[None], keys[None], values[None])[0, 0]
    expected = ", ".join(f"{x:.2f}".replace("-", "−") for x in mixed.tolist())
    assert f"**({expected})**" in text_of(app)


IN_TOY_WORDS = "Anna lost the books. She searched alone. Soon she found them under the bed."


def open_reader(view: str, **query) -> AppTest:
    return open_page("Against an RNN", **{"rnn": view, "sentence": IN_TOY_WORDS} | query)


def test_the_gates_are_those_of_the_network_that_ships():
    app = open_reader("gates", read=3, unit=5)
    lm, _bert, tokenizer = networks()
    with torch.no_grad():
        done = read_through(lm.forwards, lm.token(torch.tensor(tokenizer.encode(IN_TOY_WORDS).ids)))
    above, below = chart(app, "rnn-gates")["data"]
    means = torch.stack([done.input.mean(-1), done.forget.mean(-1), done.output.mean(-1)])
    assert numbers(above["z"])[:, 1:] == pytest.approx(means[:, 1:].numpy(), abs=1e-6)
    assert np.sort(numbers(below["z"])[:, 1:], 0) == pytest.approx(done.forget[1:].T.sort(0).values.numpy(), abs=1e-6)
    assert {(trace["zmin"], trace["zmax"]) for trace in (above, below)} == {(0, 1)}
    assert rf"\mathbf{{{tex(done.cell[2, 4].item())}}}" in formulas(app)
    other = chart(open_reader("gates", gate="output"), "rnn-gates")["data"][1]
    assert numbers(other["z"]).sum() == pytest.approx(done.output.sum().item())


def test_an_lstm_forgets_and_a_long_sentence_does_not_get_through_one_state():
    pages = (open_reader("forgets", behind_it=behind) for behind in (0, 32))
    near, far = ([numbers(line["y"]) for line in chart(app, "rnn-left")["data"]] for app in pages)
    assert near[0][-1] > 2 * near[0][0], "the last word weighs more in its state than the first"
    assert far[0].sum() < 0.25 * near[0].sum(), "and thirty-two story words later little is left of any"
    assert far[2][0] <= near[2][0] <= 1, "no gate gives back what another took"
    assert min(far[3]) > max(far[1]), "and BERT still has a vector of each word"
    attention, lstm = (numbers(line["y"]) for line in chart(open_reader("bottleneck"), "rnn-bottleneck")["data"])
    assert lstm[0] > 0.95 and lstm[-1] < 0.5 and min(attention) > 0.9


def test_what_is_expected_is_what_either_side_says():
    app = open_reader("directions")
    lm, bert, tokenizer = networks()
    ids = torch.tensor([tokenizer.encode(IN_TOY_WORDS).ids])
    with torch.no_grad():
        left, right = (logits[0].softmax(-1) for logits in lm.expected(Batch(ids)))
    shown_ = torch.tensor(numbers(chart(app, "rnn-directions")["data"][0]["z"]))
    assert shown_.shape == (ids.size(1) - 2, 3) == (17, 3)
    for column, probs in enumerate((left, right)):
        expected = probs[torch.arange(1, ids.size(1) - 1), ids[0, 1:-1]]
        assert torch.allclose(shown_[:, column], expected.double(), atol=1e-5)
    hidden = ids.clone()
    hidden[0, 6] = tokenizer.mask_id
    with torch.no_grad():
        both = bert(Batch(hidden)).mlm_logits[0, 6].softmax(-1)[ids[0, 6]]
    assert abs(shown_[5, 2].item() - both.item()) < 1e-4
    _words, *right, both_sides = map(int, re.findall(r"\d+", alt_of(app, "rnn-directions")))
    assert both_sides >= max(right)


def test_words_of_no_toy_world_are_said():
    app = open_reader("gates", sentence="Anna lost the zeppelin.")
    assert "zeppelin" in driver.captions(app)
    whole(app.button(key="toy-sentence").click().run())
    assert app.text_input(key="sentence").value == IN_TOY_WORDS and "zeppelin" not in driver.captions(app)
    (_cls, *tokens) = chart(open_page("Against an RNN", rnn="gates"), "rnn-gates")["data"][0]["customdata"][0]
    assert "[UNK]" not in tokens and tokens[0] == "anna"  # the page's own example gives way
    copied = open_reader("bottleneck", sentence=LESSON.examples[0])
    assert IN_TOY_WORDS in driver.captions(copied) and "angry" not in driver.captions(copied)
    assert "zeppelin" in driver.captions(open_reader("bottleneck", sentence="Anna lost the zeppelin."))
    assert open_reader("gates", sentence="狗追猫。").info, "none of its words is known"


def test_costs_are_the_formulas_and_paths_their_steps():
    app = open_page("Against an RNN", rnn="steps", source=1, target=6, hidden=4, tokens=512)  # the fourth size is 512
    assert re.findall(r"(\d+) step", alt_of(app, "paths")) == ["1", "5"]
    assert formulas(app).count(r"\mathbf{536{,}870{,}912}") == 2  # T = H: the same for both
    app = open_page("Against an RNN", rnn="steps", hidden=4, tokens=1024, counting="layer")
    assert formulas(app).count(r"\mathbf{4{,}294{,}967{,}296}") == 2  # T = 2H: attention and LSTM


@pytest.mark.parametrize(
    ("part", "query"),
    [(part, {}) for part in PARTS]
    + [("Break it", {"break": "mask"}), ("Break it", {"break": "positions"})]
    + [("Against an RNN", {"rnn": view}) for view in ("steps", *VIEWS[1:])],
)
def test_any_sentence_in_every_part(part, query):
    app = open_page(part, **query)
    for text in ("", EVERYTHING):
        for field in app.text_input:
            field.set_value(text)
        assert_no_markup(whole(app.run()))


def test_a_long_text_is_read_whole_and_a_window_of_it_is_drawn():
    app = open_page(sentence="word " * 50, step=5, padding=0, row=30)
    assert ["52", "18"] in [re.findall(r"\d+", caption.value) for caption in app.caption]
    assert len(shown(app, "pairs")) == 18 * 18
    assert "_{30,3}" in app.latex[0].value, "positions are those of the whole text"


def test_nothing_is_left_on_the_shared_model(model, reading):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    app = open_page("Break it")
    assert app.slider(key="factor").value == math.sqrt(model.config.head_size), "undoes the division"
    for part in ("mask", "positions"):
        open_page("Break it", **{"break": part})
    open_page("Weights and reasons")
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())
