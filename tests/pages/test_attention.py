"""The attention page: what it shows is what the model computed, for any text and any link."""

import base64
import html
import json
import math
import re

import pytest
import torch
from streamlit.testing.v1 import AppTest

from minibert.inside.head_arithmetic import all_probs, disagreement, entropy, record, take_apart
from minibert.inside.interventions import (
    edited,
    fill_in,
    head_effects,
    one_pattern,
    order_effect,
    scale_scores,
    shuffled,
    total_variation,
)
from minibert.inside.model_input import ModelInput
from minibert.inside.recurrent import read as read_through
from minibert.model import Batch, SelfAttention
from sections.attention.rnn_reader import networks
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, text_of, whole
from ui.lesson import Lesson, load_quiz
from ui.models import UNTRAINED, available_models, load
from ui.source import source_of
from ui.text import tex

LESSON = Lesson("attention")
TEXT = "The man bit the dog."  # of a link that names no sentence
PARTS = ("One head", "All heads", "Break it", "Against an RNN", "Weights and reasons")


def open_page(part: str = PARTS[0], **query) -> AppTest:
    """The page with one of its parts open and the untrained model, unless the query says otherwise."""
    assert part in PARTS
    return driver.open_page("attention", **{"model": UNTRAINED, "part": part} | query)


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


def formulas(app: AppTest) -> str:
    return "\n".join(block.value for block in app.latex)


def captions(app: AppTest) -> str:
    return "\n".join(block.value for block in app.caption)


def metric(app: AppTest, label: str) -> str:
    return next(box.value for box in app.metric if box.label == label)


def signed(value: float, decimals: int = 4) -> str:
    return f"{value:.{decimals}f}".replace("-", "−")


# --- one head ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_each_matrix_is_the_models_own(model, reading, step):
    app = open_page(step=step, layer=2, head=3, padding=2)
    padded = reading.padded(2)
    one = take_apart(model, padded.batch(), record(model.bert, padded.batch()), 1, 2)
    expected = (one.products, one.scores, one.masked, one.probs)[step - 2]
    cells = shown(app, "pairs")
    assert len(cells) == expected.numel()
    for cell, value in zip(cells, expected.flatten().tolist(), strict=True):
        if math.isinf(value):
            assert cell == "−∞"
        else:
            assert float(cell.replace("−", "-")) == pytest.approx(value, abs=6e-5)


def test_a_score_is_the_sum_of_the_products_shown(model, reading):
    app = open_page(step=2, row=3, column=5, padding=0)
    one = take_apart(model, reading.batch(), record(model.bert, reading.batch()), 0, 0)
    total = one.score_terms(2, 4)
    assert f"\\mathbf{{{total.total:.4f}}}" in formulas(app) and r"q_{3} \cdot k_{5}" in formulas(app)
    table = app.dataframe[0].value
    assert len(table) == one.size
    assert table["q · k"].sum() == pytest.approx(total.total, abs=1e-12)
    assert table["sum so far"].iloc[-1] == pytest.approx(total.total, abs=1e-12)
    assert f"{one.products[2, 4].item():.8f}" in captions(app)


def test_query_key_and_value_are_sums_of_all_hidden_numbers(model, reading):
    app = open_page(step=1, matrix=2, row=2, number=7, padding=0)
    one = take_apart(model, reading.batch(), record(model.bert, reading.batch()), 0, 0)
    total = one.projection_terms("key", 1, 6)
    assert r"k_{2}[7]" in formulas(app) and f"\\mathbf{{{total.total:.4f}}}" in formulas(app)
    assert len(app.dataframe[0].value) == model.config.hidden_size


def test_softmax_divides_by_the_sum_of_the_row(model, reading):
    app = open_page(step=5, row=2, column=4, padding=0)
    one = take_apart(model, reading.batch(), record(model.bert, reading.batch()), 0, 0)
    assert f"\\mathbf{{{one.probs[1, 3].item():.4f}}}" in formulas(app)
    texts = [note["text"] for note in chart(app, "softmax")["layout"]["annotations"]]
    assert len(texts) == reading.length
    assert signed(one.probs[1, 3].item(), 3) in texts[3] and texts[3].startswith("<b>")
    assert sum(float(text.strip("</b>").split(" = ")[1]) for text in texts) == pytest.approx(1, abs=0.01)


def test_the_mask_closes_what_is_padding():
    app = open_page(step=4, padding=3, column=9)
    assert r"\mathbf{-\infty}" in formulas(app)
    assert any("closed for everyone" in block.value for block in app.markdown)
    assert any("nothing is closed" in box.value for box in open_page(step=4, padding=0).info)


def test_the_mix_is_an_average_of_values(model, reading):
    app = open_page(step=6, row=2, number=5, padding=0)
    one = take_apart(model, reading.batch(), record(model.bert, reading.batch()), 0, 0)
    assert r"z_{2}[5]" in formulas(app) and f"\\mathbf{{{one.mix_terms(1, 4).total:.4f}}}" in formulas(app)


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (1, 'q = tap("query"'),
        (2, 'tap("scores"'),
        (3, 'tap("scores"'),
        (4, 'tap("probs"'),
        (5, 'tap("probs"'),
        (6, 'tap("mixed"'),
    ],
)
def test_each_step_leads_to_its_line(step, code):
    app = open_page(step=step)
    label = next(box.label for box in app.expander if box.label.startswith("The line of code"))
    file, line = re.search(r"`(.+):(\d+)`", label).groups()
    assert code in (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert file == source_of(SelfAttention)[2] == "minibert/model.py"


def test_a_link_holds_layer_head_step_cell_and_sentence():
    app = open_page(step=3, layer=3, head=2, row=4, column=2, sentence="The dog barked.", padding=1)
    boxes = {box.label: box.value for box in app.selectbox}
    assert boxes["Layer"] == 2 and boxes["Head"] == 1
    assert boxes["From (row)"] == 3 and boxes["To (column)"] == 1
    assert app.text_input(key="sentence").value == "The dog barked."
    assert "4" in app.query_params["row"]


@pytest.mark.parametrize("bad", ["99", "-1", "x" * 50, "<img>"])
def test_a_bad_link_breaks_nothing(bad):
    names = ("step", "layer", "head", "row", "column", "number", "matrix", "padding", "model")
    app = open_page(**dict.fromkeys(names, bad))
    assert {box.label: box.value for box in app.selectbox}["Layer"] == 0
    open_page("Break it", **dict.fromkeys(("hide", "break", "factor", "behind", "order"), bad))
    open_page("Against an RNN", **dict.fromkeys(("source", "target", "hidden", "tokens", "counting"), bad))
    open_page("Weights and reasons", **dict.fromkeys(("hide", "tested", "edit"), bad))


# --- the picture -------------------------------------------------------------------------------------------------


def picture(app: AppTest) -> dict:
    """What the component of the central picture is sent."""
    element = next(c for c in app.get("bidi_component") if c.proto.component_name.endswith("attention_arcs"))
    return json.loads(element.proto.json)


def test_the_page_begins_with_it_and_the_head_that_has_most_to_show():
    app = driver.open_page("attention", told=["arcs"])
    sent = picture(app)
    assert sent["tokens"][sent["row"]] == "it" and sent["stage"] == 0
    assert not app.query_params, "a page that was only opened is one step in the browser's history"
    loaded = load("minilm-en")
    reading = ModelInput.of(loaded.tokenizer, LESSON.examples[0])
    probs = all_probs(record(loaded.model.bert, reading.batch()))[:, 0]
    boxes = {box.label: box.value for box in app.selectbox}
    row, (dog, cat) = sent["row"], (sent["tokens"].index(word) for word in ("dog", "cat"))
    both = probs[:, :, row, dog] + probs[:, :, row, cat]  # (L, A)
    assert both[boxes["Layer"], boxes["Head"]] == both.max() > 0.4
    head = probs[boxes["Layer"], boxes["Head"]]
    assert torch.allclose(torch.tensor(sent["probs"]), head, atol=6e-5)
    one = take_apart(loaded.model, reading.batch(), record(loaded.model.bert, reading.batch()), *(
        boxes[name] for name in ("Layer", "Head")
    ))  # fmt: skip
    assert torch.allclose(torch.tensor(sent["mixed"]), one.mixed, atol=6e-4)
    assert f"{head[row, cat].item():.0%} from cat" in sent["findings"][row]


def test_what_the_page_asks_is_asked_of_any_sentence():
    """The reader's own sentence stands in the picture: the question above it speaks of no other."""
    lead = open_page(sentence="My aunt hid the key.").markdown[0].value
    assert lead.endswith("?") and not {"dog", "cat", "angry"} & set(re.findall(r"\w+", lead.lower()))


def test_the_arcs_wait_for_a_guess():
    app = driver.open_page("attention")
    asked = picture(app)
    assert asked["asked"] and not any(map(any, asked["probs"]))
    assert all(told.startswith("Where does") for told in asked["findings"])
    assert not [one for one in app.button if one.key == "best-head"]
    options = [one.label for one in app.button if one.key.startswith("arcs-guess-")]
    assert {"dog", "cat"} <= set(options)
    app.button(key="arcs-guess-0").click()
    told = picture(whole(app.run()))
    shares = dict(zip(told["tokens"], told["probs"][told["row"]], strict=True))
    best = max(options, key=shares.__getitem__)
    assert not told["asked"] and f"**{best}**" in text_of(app)


def test_an_older_link_shows_what_it_showed():
    app = driver.open_page("attention", step=2)
    boxes = {box.label: box.value for box in app.selectbox}
    assert app.text_input(key="sentence").value == TEXT
    assert boxes["Layer"] == boxes["Head"] == 0 and boxes["From (row)"] == 1


def test_a_head_with_more_to_show_is_a_click_away():
    app = driver.open_page("attention", sentence=LESSON.examples[0], model="minilm-en", row=9)
    app.button(key="best-head").click()
    whole(app.run())
    boxes = {box.label: box.value for box in app.selectbox}
    assert (boxes["Layer"], boxes["Head"]) == (5, 11)


def test_query_marks_its_own_line_and_no_other():
    app = open_page(step=1, matrix=2)
    marked = [body for body in (block.proto.body for block in app.get("html")) if "mb-marked" in body]
    assert sum(body.count('class="mb-marked') for body in marked) == 1
    assert "k = tap(" in html.unescape(re.sub("<[^>]+>", "", re.search("<mark>(.*?)</mark>", marked[0]).group(1)))


def test_weights_that_explain_and_weights_that_do_not():
    app = open_page("Weights and reasons", model="minilm-en")
    found = [
        float(rho.replace("−", "-")) for rho in re.findall(r"rank correlation \*\*([+−][\d.]+)", driver.text_of(app))
    ]
    assert found[0] < 0.4, "these hardly do"
    assert found[1] > 0.9, "these do"


def test_attention_is_drawn_on_one_scale():
    app = open_page("All heads")
    scales = {(trace.get("zmin"), trace.get("zmax")) for key in ("heads", "opened-head")
              for trace in chart(app, key)["data"] if trace["type"] == "heatmap"}  # fmt: skip
    assert scales == {(0, 1)}


# --- what is measured --------------------------------------------------------------------------------------------


def test_all_heads_are_there(model, reading):
    app = open_page("All heads", padding=0)
    probs = all_probs(record(model.bert, reading.batch()))[:, 0]
    squares = chart(app, "heads")["data"][1]
    assert len(squares["x"]["bdata"] if isinstance(squares["x"], dict) else squares["x"]) == probs.size(0) * probs.size(
        1
    )
    assert any(f"{entropy(probs).mean(-1)[0, 0].item():.2f} bits" in block.value for block in app.markdown)


def test_why_many_heads(model, reading):
    app = open_page("All heads", hide=2)
    hidden = reading.hiding(2)
    differ = disagreement(all_probs(record(model.bert, hidden.batch()))[:, 0]).mean().item()
    assert metric(app, "Two heads of a layer differ in") == f"{differ:.1%}"
    before, after = (fill_in(model, hidden.batch(), 2, tap)[0] for tap in (lambda name, x: x, one_pattern))
    assert metric(app, "One pattern for all: what moves") == f"{total_variation(before, after).item():.1%}"


def test_without_the_root_rows_are_measured(model, reading):
    app = open_page("Break it", **{"break": "root", "hide": 2})
    hidden = reading.hiding(2)
    root = math.sqrt(model.config.head_size)
    probs = all_probs(record(model.bert, hidden.batch(), scale_scores(root)))
    assert metric(app, "Entropy of a row, bits") == f"{entropy(probs).mean().item():.2f}"
    assert metric(app, "Largest share of a row") == f"{probs.amax(-1).mean().item():.1%}"


def test_without_the_mask_padding_takes_its_share(model, reading):
    app = open_page("Break it", **{"break": "mask", "behind": 5})
    assert 0 < float(metric(app, "Attention that goes to padding").rstrip("%")) < 100
    before = open_page("Break it", **{"break": "mask", "behind": 0})
    assert metric(before, "Attention that goes to padding") == "0.0%"
    assert metric(before, "Probability that moved") == "0.0%"


def test_without_positions_only_rounding_is_left(model, reading):
    app = open_page("Break it", **{"break": "positions", "order": "reversed"})
    note = next(block.value for block in app.caption if "Without positions at most" in block.value)
    assert re.search(r"at most (0|\d × 10⁻[⁵⁶⁷⁸]) is left", note)
    hidden = reading.hiding(reading.words[-2])
    moved = order_effect(model, hidden, hidden.new_order("reversed"), reading.words[-2]).moved
    shown_ = [c.proto.alt for c in app.get("plotly_chart") if c.proto.id.endswith("-attention-order")]
    assert f"{moved.mean().item():.2f}" in shown_[0]


def test_a_pair_crosses_and_padding_changes_nothing():
    app = open_page("Break it", second="It barked.")
    assert 0 < float(metric(app, "First → second sentence").rstrip("%")) < 100
    assert re.fullmatch(r"0|\d × 10⁻[⁵⁶⁷⁸]", metric(app, "Padded against alone"))


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
    assert metric(app, "Probability that moved") == f"{expected:.1%}"
    assert expected > 5e-4


def test_the_guesses_are_the_models(model, reading):
    app = open_page("Break it", hide=2, factor=0)
    hidden = reading.hiding(2).batch()
    before, after = fill_in(model, hidden, 2)[0], fill_in(model, hidden, 2, scale_scores(0))[0]
    assert total_variation(before, after) > 0
    best = load(UNTRAINED).tokenizer.vocab[before.argmax()]
    alt = next(c.proto.alt for c in app.get("plotly_chart") if c.proto.id.endswith("-attention-root-words"))
    assert f"{best} {before.max().item():.1%}" in alt


# --- against an RNN ----------------------------------------------------------------------------------------------


def test_one_step_against_many():
    app = open_page("Against an RNN", source=1, target=6)
    alt = next(c.proto.alt for c in app.get("plotly_chart") if c.proto.id.endswith("-attention-paths"))
    assert "self-attention: 1 step," in alt and "recurrent network: 5 steps." in alt


VIEWS = ("gates", "forgets", "directions", "bottleneck")  # of what a recurrent network reads
IN_TOY_WORDS = "Anna lost the books. She searched alone. Soon she found them under the bed."


def open_reader(view: str, **query) -> AppTest:
    return open_page("Against an RNN", **{"rnn": view, "sentence": IN_TOY_WORDS} | query)


def alt_of(app: AppTest, key: str) -> str:
    return next(c.proto.alt for c in app.get("plotly_chart") if c.proto.id.endswith(f"-attention-rnn-{key}"))


def numbers(trace: dict) -> torch.Tensor:
    """A heatmap's values, whichever way plotly has written them."""
    z = trace["z"]
    if isinstance(z, dict):
        shape = tuple(map(int, z["shape"].split(",")))
        return torch.frombuffer(bytearray(base64.b64decode(z["bdata"])), dtype=TYPES[z["dtype"]]).view(shape)
    return torch.tensor(z)


TYPES = {"f8": torch.float64, "f4": torch.float32}


def test_whoever_opens_the_part_sees_a_network_read():
    app = driver.open_page("attention", told=["arcs"])
    app.session_state["part"] = "Against an RNN"
    assert figure(whole(app.run()), "attention-rnn-gates")


def test_the_gates_are_those_of_the_network_that_ships():
    app = open_reader("gates", read=3, unit=5)
    lm, _bert, tokenizer = networks()
    with torch.no_grad():
        done = read_through(lm.forwards, lm.token(torch.tensor(tokenizer.encode(IN_TOY_WORDS).ids)))
    above, below = chart(app, "rnn-gates")["data"]
    means = torch.stack([done.input.mean(-1), done.forget.mean(-1), done.output.mean(-1)])
    assert torch.allclose(numbers(above), means.double(), atol=1e-6)
    assert torch.allclose(numbers(below).sort(0).values, done.forget.T.double().sort(0).values, atol=1e-6)
    assert {(trace["zmin"], trace["zmax"]) for trace in (above, below)} == {(0, 1)}
    assert rf"\mathbf{{{tex(done.cell[2, 4].item())}}}" in formulas(app)
    assert "it forgets most" in alt_of(app, "gates")
    assert torch.allclose(numbers(chart(open_reader("gates", gate="output"), "rnn-gates")["data"][1]).sum(),
                          done.output.sum().double())  # fmt: skip


def test_an_lstm_forgets_and_story_words_make_it_worse():
    shares = {}
    for behind in (0, 32):
        app = open_reader("forgets", behind_it=behind)
        assert f"{behind} words after the sentence" in alt_of(app, "left")
        shares[behind] = [values_of(line["y"]) for line in chart(app, "rnn-left")["data"]]
    near, far = shares[0], shares[32]
    assert near[0][-1] > 2 * near[0][0], "the last word weighs more in its state than the first"
    assert sum(far[0]) < sum(near[0]), "and thirty-two words later less is left"
    assert far[2][0] <= near[2][0] <= 1, "no gate gives back what another took"
    assert sum(far[0]) < 0.25 * sum(near[0]), "against what another text would do, little is left of any"


def values_of(values) -> list[float]:
    if isinstance(values, dict):
        return torch.frombuffer(bytearray(base64.b64decode(values["bdata"])), dtype=TYPES[values["dtype"]]).tolist()
    return list(values)


def test_what_is_expected_is_what_either_side_says():
    app = open_reader("directions")
    lm, bert, tokenizer = networks()
    ids = torch.tensor([tokenizer.encode(IN_TOY_WORDS).ids])
    with torch.no_grad():
        left, right = (logits[0].softmax(-1) for logits in lm.expected(Batch(ids)))
    shown_ = numbers(chart(app, "rnn-directions")["data"][0])
    assert shown_.shape == (ids.size(1) - 2, 3)
    for column, probs in enumerate((left, right)):
        expected = probs[torch.arange(1, ids.size(1) - 1), ids[0, 1:-1]]
        assert torch.allclose(shown_[:, column], expected.double(), atol=1e-5)
    hidden = ids.clone()
    hidden[0, 6] = tokenizer.mask_id
    with torch.no_grad():
        both = bert(Batch(hidden)).mlm_logits[0, 6].softmax(-1)[ids[0, 6]]
    assert abs(shown_[5, 2].item() - both.item()) < 1e-4
    said = re.fullmatch(r"Of 17 words, (\d+) are .* left, (\d+) from the right, (\d+) from both sides\.",
                        alt_of(app, "directions"))  # fmt: skip
    assert int(said[3]) >= max(int(said[1]), int(said[2]))


def test_a_long_sentence_does_not_get_through_one_state():
    app = open_reader("bottleneck")
    attention, lstm = (values_of(line["y"]) for line in chart(app, "rnn-bottleneck")["data"])
    assert lstm[0] > 0.95 and lstm[-1] < 0.5 and min(attention) > 0.9
    assert "LSTM → one state → LSTM" in text_of(app) and "~~" in text_of(app)


def test_words_of_no_toy_world_are_said():
    for view in ("gates", "forgets", "directions"):
        app = open_reader(view, sentence="Anna lost the zeppelin.")
        assert "zeppelin" in driver.plain(captions(app))
        app.button(key="toy-sentence").click()
        whole(app.run())
        assert app.text_input(key="sentence").value == IN_TOY_WORDS and "zeppelin" not in captions(app)
        assert any("none of your words" in box.value for box in open_reader(view, sentence="狗追猫。").info)


@pytest.mark.parametrize("view", VIEWS)
def test_a_bad_link_breaks_no_view(view):
    open_reader(view, **dict.fromkeys(("gate", "read", "unit", "behind_it"), "<img>"))
    open_reader(view, **dict.fromkeys(("gate", "read", "unit", "behind_it"), "99999"))


def test_costs_are_the_formulas():
    app = open_page("Against an RNN", hidden=4, tokens=512)  # the fourth size is 512
    assert formulas(app).count(r"\mathbf{536{,}870{,}912}") == 2  # T = H: the same for both
    assert any("T = H = 512" in block.value for block in app.markdown)
    app = open_page("Against an RNN", hidden=4, tokens=1024, counting="layer")
    assert formulas(app).count(r"\mathbf{4{,}294{,}967{,}296}") == 2  # T = 2H: attention and LSTM


# --- anything may be typed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "query"),
    [(part, {}) for part in PARTS]
    + [("Break it", {"break": "mask"}), ("Break it", {"break": "positions"})]
    + [("Against an RNN", {"rnn": view}) for view in VIEWS],
)
def test_any_sentence_in_every_part(part, query):
    app = open_page(part, **query)
    for text in ("", EVERYTHING):
        app.text_input(key="sentence").set_value(text)
        app.text_input(key="second").set_value(text)
        assert_no_markup(whole(app.run()))


def test_a_long_text_is_cut_and_the_page_says_so():
    app = open_page(sentence="word " * 50)
    assert any("tokens. The model reads 18 of them" in box.value for box in app.info)
    assert len(shown(open_page(sentence="word " * 50, step=2, padding=0), "pairs")) == 324


def test_every_figure_is_described():
    for part in PARTS:
        charts = open_page(part).get("plotly_chart")
        assert charts and all(len(chart_.proto.alt) > 20 for chart_ in charts), part


def test_the_lesson_is_whole():
    assert len(load_quiz(LESSON.folder / "quiz.toml")) >= 4
    pages = [open_page(part) for part in PARTS]
    pages += [open_page(step=step) for step in range(2, 7)]
    pages += [open_page("Break it", **{"break": part}) for part in ("mask", "positions")]
    pages += [open_reader(view) for view in VIEWS]
    text = "\n".join(block.value for app in pages for block in app.markdown)
    for name in LESSON.sections:
        assert LESSON.section(name)[1] in text, name


def test_nothing_is_left_on_the_shared_model(model, reading):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for part in ("root", "mask", "positions"):
        open_page("Break it", **{"break": part})
    open_page("Weights and reasons")
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())
