"""The parameters page: sums, links, presets, what does not fit, and prose that agrees with the counts."""

import json
import re
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from minibert.config import BertConfig
from minibert.count import FAMILY, parameters
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, html_of, whole
from ui.lesson import Lesson, load_quiz

open_page = partial(driver.open_page, "parameters")
PROSE = " ".join(" ".join(Lesson("parameters").section(name)[1] for name in Lesson("parameters").sections).split())


def text_of(app: AppTest) -> str:
    return f"{html_of(app)} {driver.text_of(app)}"


def family(app: AppTest):
    """The choice of a model to start from."""
    return next(box for box in app.selectbox if box.label == "Start from")


def sums(app: AppTest) -> str:
    return re.search(r'class="mb-sums".*?</div>', text_of(app), re.DOTALL)[0]


def test_a_preset_sets_every_size():
    app = open_page()
    assert "<b>110,106,428</b> parameters" in sums(app) and "<b>2.23 TFLOP</b> a step" in sums(app)
    assert not app.error and not app.warning
    for name in ("BERT-large", "ALBERT-xlarge", "ELECTRA-small"):
        whole(family(app).set_value(name).run())
        assert f"<b>{parameters(FAMILY[name]).pretraining:,}</b> parameters" in sums(app) and not app.error
        letters = FAMILY[name].letters
        assert {letter: app.slider(key=letter).value for letter in "LHAFVP"} == {k: letters[k] for k in "LHAFVP"}


def test_the_classrooms_own_checkpoints_join_the_family(monkeypatch, tmp_path):
    sizes = BertConfig.preset("mini", vocab_size=8003)
    huge = json.dumps(sizes.change(vocab_size=10**6).as_dict())  # beyond the sliders
    for name, text in (("own", json.dumps(sizes.as_dict())), ("half", '{"hidden_'), ("huge", huge)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr("ui.model_registry.CHECKPOINTS", tmp_path)
    app = open_page()
    assert family(app).options[len(FAMILY) :] == ["own"]
    family(app).set_value("own").run()
    assert f"<b>{parameters(sizes).pretraining:,}</b> parameters" in sums(app)


def test_a_link_opens_exactly_what_it_says_and_follows_the_page():
    app = open_page(L=24, H=1024, A=16, F=4096, T=512, B=8, part="block.attn.query", attn="explicit")
    assert "<b>336,226,108</b> parameters" in sums(app)
    assert app.selectbox(key="chosen-part").value == "block.attn.query"
    assert "24 × (1,024² + 1,024)" in text_of(app)
    assert app.session_state["view"] == "Parameters"
    app.selectbox(key="chosen-part").set_value("nsp").run()
    assert app.query_params["part"] == "nsp" and "2·1,024 + 2" in text_of(app)
    relative = open_page(shared="true", E=128, V=30000, objective="mlm+sop")
    assert f"<b>{parameters(FAMILY['ALBERT-base']).pretraining:,}</b> parameters" in sums(relative)


@pytest.mark.parametrize(
    "query",
    [
        {"L": "abc", "H": "-1", "A": "0", "V": "9" * 400},
        {"part": "</script><img src=x onerror=alert(1)>", "objective": "\x00", "E": "7"},
        {"H": "wide", "T": "²", "B": "", "S": "5", "shared": "maybe", "grow": "Z", "watch": "<b>"},
    ],
)
def test_a_bad_link_falls_back_to_base(query):
    app = open_page(**query)
    assert "110,106,428" in sums(app)
    assert_no_markup(app)


def test_the_map_tells_no_number_before_the_guess():
    app = open_page()
    assert driver.figure(app, "parts-map") is None
    veiled = driver.figure(app, "parts-veiled")["data"][0]
    assert not re.search(r"\d", "".join(label for label in veiled["text"] if "H" not in label))
    whole(next(button for button in app.button if driver.plain(button.label) == "feed-forward").click().run())
    assert re.findall(r"\d+", driver.title_of(app, "parts-map")) == ["51", "110"]  # percent, millions


def test_the_column_says_what_it_counts():
    app = open_page(view="110 million")
    table = next(block.value for block in app.markdown if "the paper says" in block.value)
    head = [cell.strip() for cell in table.splitlines()[0].strip("|").split("|")]
    base = next(line for line in table.splitlines() if "BERT" in line and "base" in line)
    count = parameters(FAMILY["BERT-base"])
    cells = dict(zip(head, [cell.strip() for cell in base.strip("|").split("|")], strict=True))
    assert cells["encoder + MLM head"] == f"{count.encoder + count.of('mlm.'):,}"  # the pooler is not in it
    assert cells["encoder + pooler"] == f"{count.encoder + count.of('pooler'):,}"


def test_what_does_not_fit_is_an_error_with_a_way_out_and_heads_follow_the_width():
    app = open_page(A=7)
    (said,) = [re.findall(r"\d+", driver.plain(error.value)) for error in app.error]
    assert said[:2] == ["768", "7"] and said[-2:] == ["6", "8"]  # the heads that would fit
    app.slider(key="A").set_value(9).run()  # does not divide 768: the nearest that does
    assert app.slider(key="A").value == 8 and not app.error and "110,106,428" in sums(app)
    assert open_page(pooler="false").error  # sentence pairs are asked of it
    app.slider(key="A").set_value(12).run()
    app.slider(key="H").set_value(1024).run()
    assert (app.slider(key="A").value, app.slider(key="F").value) == (16, 4096)
    app.toggle(key="proportions").set_value(False).run()
    app.slider(key="H").set_value(512).run()
    assert (app.slider(key="A").value, app.slider(key="F").value) == (16, 4096)
    app = open_page(T=1024, view="Arithmetic")  # more tokens than positions
    assert {"1,024", "512"} <= set(re.findall(r"[\d,]+", app.warning[0].value))
    assert "110,106,428" in sums(app) and "FLOP</b>" not in sums(app)


def test_the_models_built_equal_the_formulas():
    app = open_page(L=2, H=128, A=2, F=512, view="110 million")
    whole(app.button(key="build").click().run())
    table = next(block.value for block in app.markdown if "model built" in block.value)
    assert table.count("= equal") == 3 and "not equal" not in table  # base, large and tiny, which is on screen
    for number in ("110,106,428", "336,226,108", "4,433,468"):
        assert table.count(number) == 2  # by formula, and built
    app = open_page(shared="true", view="110 million")  # a relative is not claimed to be built
    app.button(key="build").click().run()
    assert sum(block.value.count("= equal") for block in app.markdown) == 2  # base and large alone


@pytest.mark.parametrize(
    ("letter", "watch", "least", "most"),
    [
        ("H", "parameters", 2, 4),  # blocks quadratic, embeddings linear
        ("T", "parameters", 1, 1),  # 192 tokens have positions
        ("T", "flops", 2, 2.1),  # linear, and a little of the square
        ("H", "memory", 1, 4),
    ],
)
def test_growth_curves_and_what_doubling_does(letter, watch, least, most):
    app = open_page(view="How it grows", grow=letter, watch=watch, T=96, L=3)
    times = float(re.findall(r"[\d,.]+", driver.title_of(app, "growth-figure"))[-1])  # twice the letter, so much more
    assert least <= times <= most


def test_inference_and_written_out_attention_change_memory_only():
    texts = [sums(open_page(**query)) for query in ({}, {"attn": "explicit"}, {"run": "inference"}, {"bits": "bf16"})]
    assert len(set(texts)) == 4
    assert all("<b>110,106,428</b>" in text and "<b>2.23 TFLOP</b>" in text for text in texts)


# ---------------------------------------------------------------------------------------------------------- the prose
def test_every_long_number_in_the_prose_is_counted():
    counted = {n for name in ("BERT-base", "BERT-large") for n in parameters(FAMILY[name]).totals().values()}
    stated = {int(n.replace(",", "")) for n in re.findall(r"\d{3},\d{3},\d{3}", PROSE)}
    assert stated and stated <= counted
    assert {float(f"{n:.2g}") for n in stated} == {110e6, 340e6}  # the paper's numbers have two digits


def test_the_shares_and_ratios_in_the_prose_and_in_the_quiz_are_counted():
    base, large = (parameters(FAMILY[name]) for name in ("BERT-base", "BERT-large"))
    grown = {f"{large.of('block.') / base.of('block.'):.2f}", f"{large.pretraining / base.pretraining:.2f}"}
    assert set(re.findall(r"(\d\.\d\d) times", PROSE)) == grown
    smaller = parameters(BertConfig(vocab_size=30_000))
    moved = float(re.search(r"moves base by ([\d.]+) M", PROSE)[1])
    assert moved == round((base.pretraining - smaller.pretraining) / 1e6, 1)
    questions = load_quiz(ROOT / "lessons" / "parameters" / "quiz.toml")
    whys = " ".join(choice.why for question in questions for choice in question.choices)
    millions = {round(base.of(part) / 1e6) for part in ("block.mlp.", "block.attn.", "embeddings.token")}
    assert {int(n) for n in re.findall(r"(?<![\d.])(\d+) of 110 million", whys)} == millions
