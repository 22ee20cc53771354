"""Every page opens an ALBERT and a NEZHA, says what they are, and shows their own numbers – or says why it cannot."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from streamlit.testing.v1 import AppTest

from minibert import checkpoint
from minibert.count import FAMILY, parameters
from minibert.inside.explanations.interventions import order_effect, switched_off, without_positions
from minibert.inside.heads.arithmetic import record, take_apart
from minibert.inside.model_input import ModelInput
from minibert.pretrain import PretrainSettings
from minibert.relatives import relative_named, shape_of
from minibert.tasks import TASKS
from minibert.toy.world import documents
from tests.pages import driver
from tests.pages.driver import ROOT, captions, figure, formulas, html_of, metrics, plain, text_of, whole
from tests.pages.finished_runs import finished_run, run_here, spelling_predictor
from ui.model_registry import ModelInfo, has_pair_head

ABOUT = {  # model_type → its name, which stands in bold wherever it is said what a model is
    "albert": "ALBERT",
    "nezha": "NEZHA",
    "electra": "ELECTRA",
    "xlnet": "XLNet",
    "unilm": "UniLM",
    "wklm": "WKLM",
    "left_to_right": "Left to right",
}
NARROW = ("albert", "electra")  # E is not H
both = pytest.mark.parametrize("name", ["albert", "nezha"])
TEXT = "The dog ran after the cat."


@pytest.fixture(scope="module")
def runs(runs_folder, tmp_path_factory):
    """A pre-training of a few steps of a relative: model_type → run."""
    sizes = {"hidden_size": 64, "intermediate_size": 128, "max_position_embeddings": 96, "initializer_range": 0.2}

    def make(name: str):
        settings = PretrainSettings(
            relative=name,
            preset="tiny",
            sizes=sizes | ({"embedding_size": 32} if name in NARROW else {}),
            vocab_size=400,
            steps=2,
            batch_size=4,
            max_length=32,
            start="random",
            report_every=1,
            measure_every=1,
            snapshots=(0.0, 0.5),
        )
        folder = tmp_path_factory.mktemp(name)
        text = ROOT / "lessons" / "data" / "documents" / "again.txt"
        if name == "wklm":  # which asks about names
            text = folder / "stories.txt"
            text.write_text("\n\n".join("\n".join(lines) for lines in documents(60, seed=0)))
        options = {"dev": [text], "title": f"my {name}", "kind": f"pretraining/{name}"}
        return run_here(("minibert.pretrain:pretrain", (settings, [text]), options), folder / "model", owner="me")

    return cache(make)


@pytest.fixture(scope="module")
def tuned(runs_folder, tmp_path_factory):
    """A classifier of a relative: model_type → run."""
    from ui.runs import manager

    dev = TASKS["classification"].read(ROOT / "lessons" / "data" / "reviews" / "dev.tsv").examples[:8]

    def make(name: str):
        sizes = {"embedding_size": 8} if name in NARROW else {}
        predictor = spelling_predictor("classification", ["negative", "positive"], relative_named(name).config, **sizes)
        about = {"owner": "me", "title": f"my tuned {name}", "kind": "kept/classification"}
        return finished_run(manager(), tmp_path_factory.mktemp(name), predictor, dev, **about)

    return cache(make)


@pytest.fixture(scope="module")
def model_of(runs) -> Callable:
    return cache(lambda name: checkpoint.load(runs(name).result))


def reading_of(run) -> ModelInput:
    return ModelInput.of(checkpoint.load_tokenizer(run.result), TEXT, max_length=18)


def open_on(page: str, run, **query) -> AppTest:
    return driver.open_page(page, owner="me", model=run.id, **query)


def said(app: AppTest, name: str, width: int = 32) -> bool:
    """Whether a line says what the model is, and how wide its embeddings are if that is not H."""
    lines = [plain(caption.value) for caption in app.caption if plain(caption.value).startswith(f"**{ABOUT[name]}**")]
    return len(lines) == 1 and (name not in NARROW or f"E = {width}" in lines[0])


def family_of(app: AppTest):
    """The choice of a model on the parameters page."""
    return next(box for box in app.selectbox if box.label == "Start from")


def on_parameters(model: str) -> AppTest:
    app = driver.open_page("parameters", owner="me", view="110 million")
    return whole(family_of(app).set_value(model).run())


@pytest.mark.release
def test_a_note_says_what_a_model_was_asked(runs, tuned):
    infos = {name: ModelInfo(name, name, runs(name).result) for name in ABOUT}
    assert {name: info.objective for name, info in infos.items()} == {
        "albert": "mlm+sop",
        "nezha": "mlm+nsp",
        "electra": "rtd",
        "xlnet": "plm",
        "unilm": "mlm+masks",
        "wklm": "mlm+names",
        "left_to_right": "next-token",
    }
    assert [info.can_fill for info in infos.values()] == [True, True, False, False, True, True, False]
    assert [info.can_judge for info in infos.values()] == [False, True, False, False, False, False, False]
    for name in ABOUT:
        info = ModelInfo("x", "x", tuned(name).result)
        assert info.objective is None and not (info.can_fill or info.can_judge or info.pretrained)


def test_without_a_note_the_class_tells(tmp_path):
    for kinds, fills, judges in (
        ("BertForPreTraining", True, True),
        ("BertForMaskedLM AlbertForPreTraining ElectraForMaskedLM", True, False),
        ("ElectraForPreTraining XLNetLMHeadModel BertModel BertForSequenceClassification", False, False),
    ):
        for kind in kinds.split():
            (tmp_path / "config.json").write_text(f'{{"architectures": ["{kind}"]}}')
            info = ModelInfo("x", "x", tmp_path)
            assert (info.can_fill, info.can_judge) == (fills, judges), kind
    for kind in ("BertForPreTraining", "BertForMaskedLM"):
        (tmp_path / "config.json").write_text(f'{{"architectures": ["{kind}"]}}')
        for name, judges in (("cls.seq_relationship.weight", True), ("cls.predictions.bias", False)):
            save_file({name: torch.zeros(2)}, tmp_path / "model.safetensors")
            has_pair_head.cache_clear()
            assert ModelInfo("x", "x", tmp_path).can_judge == judges, kind


@pytest.mark.release
@pytest.mark.parametrize("name", ["left_to_right", "electra", "xlnet"])
def test_what_fills_no_blanks_is_offered_only_where_it_need_not(runs, name):
    run = runs(name)
    for page in ("attention", "encoder_decoder", "masking"):
        assert all(f"my {name}" not in box.options for box in open_on(page, run).selectbox), page
    app = open_on("input", run)
    assert app.selectbox(key="model").value == run.id and said(app, name)
    assert open_on("attention_explorer", run, part="Switch heads off").info and open_on("probes", run).info


@pytest.mark.release
def test_an_albert_does_not_judge_next_sentences_and_a_nezha_does(runs):
    app = open_on("next_sentence", runs("albert"))
    assert "my albert" not in app.selectbox(key="model").options and "my albert" in captions(app)
    app = open_on("next_sentence", runs("nezha"))
    assert app.selectbox(key="model").value == runs("nezha").id and said(app, "nezha")


@pytest.mark.release
@both
@pytest.mark.parametrize(
    ("page", "query", "classifier"),
    [
        ("attention", {"part": "Weights and reasons"}, False),
        ("attention_explorer", {"part": "Kinds of heads"}, False),
        *(("attention_explorer", {"part": "Switch heads off"}, classifier) for classifier in (False, True)),
        ("encoder_decoder", {"part": "The block", "step": 4}, False),
        ("encoder_decoder", {"part": "Can BERT write?"}, False),
        *((page, {}, False) for page in ("masking", "probes", "embeddings", "output_layer")),
        ("service", {"step": 4}, True),
        ("attribution", {}, True),
        ("wrong_reasons", {"part": "A checklist"}, True),
    ],
)
def test_a_page_opens_it_and_says_what_it_is(runs, tuned, page, query, classifier, name):
    run, width = (tuned(name), 8) if classifier else (runs(name), 32)
    app = open_on(page, run, **query)
    assert app.selectbox(key="model").value == run.id
    assert said(app, name, width) and not app.error


@both
def test_the_input_is_what_this_model_adds_up(runs, model_of, name):
    app = open_on("input", runs(name), a=TEXT, pair="false")
    assert said(app, name)
    rows = {row["vector"]: row for row in app.table[0].value.to_dict("records")}
    reading = reading_of(runs(name))
    seen = record(model_of(name), reading.batch())
    taps = {"token": "token", "segment": "segment", "position": "position", "sum": "sum", "after LayerNorm": "out"}
    if name == "albert":
        taps |= {"after LayerNorm": "narrow", "widened to H": "out"}
        assert "E = 32" in text_of(app) and "H = 64" in text_of(app)
        assert figure(open_on("input", runs(name), a=TEXT, part="Places"), "places")
    else:
        del taps["position"]
        places = open_on("input", runs(name), a=TEXT, part="Places")
        assert places.info and not figure(places, "places")
    assert list(rows) == list(taps)
    found = [seen[f"embeddings.{tap}"][0, 2, 0].item() for tap in taps.values()]
    assert [float(row["1"].replace("−", "-")) for row in rows.values()] == pytest.approx(found, abs=1e-6)


@both
def test_one_head_step_by_step_is_what_the_model_computed(runs, model_of, name):
    reading, model = reading_of(runs(name)), model_of(name)
    one = take_apart(model, reading.batch(), record(model.bert, reading.batch()), 1, 1)
    query = {"sentence": TEXT, "padding": 0, "layer": 2, "head": 2, "row": 2, "column": 5}
    product = one.score_terms(1, 4).total
    assert product / np.sqrt(one.size) == pytest.approx(one.scores[1, 4].item(), abs=1e-5)
    pages = {step: open_on("attention", runs(name), step=step, **query) for step in (2, 3, 5)}
    pages[6] = open_on("attention", runs(name), step=6, **query, number=3)
    assert said(pages[2], name)
    cells = [(3, one.products[1, 4]), (3, one.scores[1, 4]), (5, one.probs[1, 4])]
    for step, value in ((2, product), *cells, (6, one.mix_terms(1, 2).total)):
        assert f"{float(value):.4f}" in formulas(pages[step])
    for step, value in ((2, one.products), (5, one.probs)):
        cell = figure(pages[step], "attention-pairs")["data"][1]["text"][len(value) + 4]
        number = cell.split("<b>")[-1].removesuffix("</b>").replace("−", "-")
        assert float(number) == pytest.approx(value[1, 4].item(), abs=6e-5)
    table = pages[2].dataframe[0].value
    assert table.iloc[:, 2].sum() == pytest.approx(product, abs=1e-12)
    assert list(table.columns[:3]) == (["q", "k", "q · k"] if name == "albert" else ["q", "k + r", "q · (k + r)"])
    assert ("k_{5} + r_{2,5}" in formulas(pages[3])) == (name == "nezha")
    assert ("r_{2,j}[3]" in formulas(pages[6])) == (name == "nezha")
    source = "relatives/nezha.py" if name == "nezha" else "minibert/model.py"
    for page in pages.values():
        assert source in next(box.label for box in page.expander if box.label.startswith("The line of code"))


@both
def test_without_what_tells_positions_order_is_nothing(runs, model_of, name):
    reading = reading_of(runs(name))
    order, taps = reading.new_order("reversed"), (lambda n, x: x, without_positions)
    with_, without = (order_effect(model_of(name), reading, order, 2, tap).moved for tap in taps)
    assert with_.mean() > 0.01 and without.max() < 1e-4


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.release if name != "left_to_right" else ()) for name in ABOUT]
)
def test_the_explorers_arithmetic_is_the_models(runs, model_of, name):
    reading = reading_of(runs(name))
    seen = record(model_of(name).bert, reading.batch())
    app = open_on("attention_explorer", runs(name), sentence=TEXT, layer=2, head=1, row=6, column=4)
    score, share = (seen[f"blocks.1.attn.{tap}"][0, 0, 4, 2].item() for tap in ("scores", "probs"))
    assert said(app, name)
    assert f"{score:.4f}" in formulas(app) and f"{share:.6f}" in formulas(app)
    later = open_on("attention_explorer", runs(name), sentence=TEXT, layer=2, head=1, row=4, column=6)
    hidden = name == "left_to_right"
    assert (r"= -\infty" in formulas(later)) == hidden and (r"\mathbf{0.000000}" in formulas(later)) == hidden


@both
def test_bertviz_draws_it_or_says_why_not(runs, name):
    app = open_on("attention_explorer", runs(name), part="BertViz", bertviz_neuron="true", bertviz_head="false")
    assert bool(app.get("iframe")) == (name == "albert")
    assert bool(app.info) == (name == "nezha")


@pytest.mark.release
@pytest.mark.parametrize("name", list(ABOUT))
def test_parameters_are_those_of_the_model_that_was_trained(runs, model_of, name):
    model = model_of(name)
    app = on_parameters(f"my {name}")
    assert family_of(app).placeholder == f"my {name}"
    counted = parameters(shape_of(model.config))
    count = sum(p.numel() for p in model.parameters())
    count -= counted.of("pooler") if name == "wklm" else 0  # it is asked nothing about pairs, and the pooler waits
    assert counted.pretraining == count
    assert f"<b>{count:,}</b> parameters" in html_of(app) and said(app, name)
    for key, relative in {"relative": "nezha", "xl": "xlnet", "shared": "albert"}.items():
        assert app.toggle(key=key).value == (name == relative)
    assert app.selectbox(key="E").value == 32 * (name in NARROW)
    app = whole(app.button(key="build").click().run())
    assert text_of(app).count("= equal") == 3 and "not equal" not in text_of(app)


def test_the_published_albert_is_built_too():
    app = whole(on_parameters("ALBERT-base").button(key="build").click().run())
    assert text_of(app).count("= equal") == 3
    assert f"{parameters(FAMILY['ALBERT-base']).pretraining:,}" in text_of(app)


@pytest.mark.release
def test_its_pre_training_is_shown_in_its_own_questions(runs):
    assert all(runs(name) for name in ABOUT)  # each is made
    app = driver.open_page("pretraining", owner="me", part="Look back", past=runs("albert").id)
    assert said(app, "albert") and figure(app, "then-words")  # what its words were at each kept step
    for name, second in {
        "albert": "Sentence order",
        "nezha": "NSP",
        "electra": "Replaced tokens",
        "wklm": "Replaced names",
        "left_to_right": None,
        "xlnet": None,
    }.items():
        driver.part(app, "Keep it").selectbox(key="kept").set_value(runs(name).kind)
        # What transformers has not, it is not promised to load.
        assert any("pipeline(" in block.value for block in whole(app.run()).code) == (name == "albert")
        driver.part(app, "The curves").multiselect(key="shown").set_value([runs(name).kind])
        tiles = metrics(whole(app.run()))
        asked = {"left_to_right": ("next_token", "Next token"), "xlnet": ("plm", "Permuted")}
        kind, main = asked.get(name, ("mlm", "MLM"))
        assert tiles[f"{main} loss"] == f"{runs(name).latest('step')['parts'][f'{kind}_loss']:.2f}"
        measured = {label.removesuffix(" accuracy") for label in tiles if label.endswith("accuracy")}
        assert measured == {main, second} - {None}
        titles = [note["text"] for note in figure(app, "curves")["layout"]["annotations"]]
        assert any(title.startswith(f"{main} loss") for title in titles)
        assert (f"{second} loss" in titles) == (second in ("NSP", "Sentence order"))
    some = [name for name in ABOUT if name not in ("nezha", "wklm")]  # as many as may be compared
    app.multiselect(key="shown").set_value([runs(name).kind for name in some])
    row = whole(app.run()).table[-1].value.set_index("relative of BERT")
    assert (row["MLM loss"] == "–").to_dict() == {name: name in ("left_to_right", "xlnet") for name in some}


def test_heads_of_shared_blocks_are_switched_off_one_layer_at_a_time(model_of, runs):
    """The same weights are at work in every layer: off in one is not off in the others."""
    model, batch = model_of("albert"), reading_of(runs("albert")).batch()
    seen = record(model.bert, batch, switched_off([(1, 0)]))
    assert (seen["blocks.1.attn.mixed"][:, 0] == 0).all() and (seen["blocks.0.attn.mixed"][:, 0] != 0).any()
