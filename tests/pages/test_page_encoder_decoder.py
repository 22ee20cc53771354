"""The encoder and decoder page: its numbers against the model's, its masks, a run, and what BERT writes."""

import html
import math
import re
import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from minibert.inside.block_arithmetic import take_block_apart
from minibert.inside.heads.arithmetic import record
from minibert.inside.model_input import ModelInput
from minibert.inside.predictions.cloze import expectations
from minibert.inside.predictions.generation import chain, write
from minibert.model import Batch
from minibert.toy.seq2seq import EOS, SPECIALS, Trained, split_words
from sections.encoder_decoder import films, trained
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, captions, figure, metrics, numbers, sent, text_of, whole
from tests.waiting import until
from ui.lesson import Lesson
from ui.model_cache import load
from ui.model_registry import UNTRAINED, available_models
from ui.runs import manager

LESSON = Lesson("encoder_decoder")
MODEL = available_models(fill=True)[0].name
PARTS = ["Read and write", "The block", "Three masks", "Train a Transformer", "Can BERT write?"]
open_page = partial(driver.open_page, "encoder_decoder", told=["writes"])
block_of = partial(open_page, part=PARTS[1], model=MODEL)
pytestmark = pytest.mark.usefixtures("runs_folder")


def recorded(sentence: str):
    loaded = load(MODEL)
    reading = ModelInput.of(loaded.tokenizer, sentence)
    seen = record(loaded.model.bert, reading.batch())
    return seen, take_block_apart(loaded.model, seen, 1)


def test_the_page_opens_with_both_halves_and_after_a_guess_every_number_is_the_models():
    app = driver.open_page("encoder_decoder")
    assert app.session_state["part"] == PARTS[0]
    assert len(sent(app)["steps"]) == 1 and sent(app)["sources"]
    app.button(key="writes-guess-0").click()
    told = sent(whole(app.run()))
    model = Trained.load(trained.SHIPPED)
    decoding = model.decode(split_words(app.text_input(key="sentence").value))
    assert told["half"] == "both" and told["sources"] == decoding.source
    begin, *steps, last = told["steps"]
    others = decoding.attention("encoder.attn").mean((0, 1)).fill_diagonal_(0).sum(0)
    assert f"“{decoding.source[others.argmax()]}”" in begin["finding"]
    assert f"**{steps[0]['word']}**" in text_of(app)
    assert [step["word"] for step in steps] == decoding.said
    assert [step["share"] for step in steps] == [f"{p:.1%}" for p in decoding.probs.max(-1).values.tolist()]
    for part, name in (("decoder.cross", "cross"), ("decoder.attn", "own")):
        means = decoding.attention(part).mean((0, 1)).tolist()
        for step, row in zip(steps, means, strict=True):
            assert step[name] == pytest.approx(row[: len(step[name])], abs=1e-4)
    assert np.allclose(told["reads"], decoding.attention("encoder.attn").mean((0, 1)), atol=1e-4)
    right = sum(map(str.__eq__, decoding.said, [*reversed(decoding.source[:-1]), EOS]))
    assert re.findall(r"\d+", last["finding"])[:2] == [str(right), str(len(decoding.source))]
    assert all(step["word"] in step["finding"] and step["share"] in step["finding"] for step in steps)
    for text in LESSON.examples:  # it says each in reverse
        assert model.answer(split_words(text)).answer == split_words(text)[::-1], text


def test_a_sentence_with_more_words_than_the_model_reads_is_said_to_be_cut():
    longest = Trained.load(trained.SHIPPED).longest
    short, long = (" ".join(["dog"] * n) for n in (longest, longest + 2))
    told = [re.findall(r"\d+", one.value) for one in open_page(sentence=long).info]
    assert [str(longest + 2), str(longest)] in told
    assert not any(str(longest) in one.value for one in open_page(sentence=short).info)


def test_a_decoder_alone_goes_on_from_the_first_words_and_sees_no_later_one():
    told = sent(open_page(half="decoder", sentence="Anna had three shells. Then"))
    model, tokenizer = trained.gpt()
    given = [step["word"] for step in told["given"]]
    assert given == ["anna", "had", "three", "shells"] and told["sources"] == []
    ids = [tokenizer.cls_id, *(tokenizer.ids[word] for word in given)]
    for step in told["steps"][1:-1]:
        with torch.no_grad():
            probs = model(Batch(torch.tensor([ids]))).mlm_logits[0, -1].softmax(-1)
        best = next(i for i in probs.argsort(descending=True).tolist() if i not in tokenizer.special_ids)
        assert (step["word"], step["share"]) == (tokenizer.vocab[best], f"{probs[best]:.1%}")
        assert len(step["own"]) == len(ids) == step["row"] + 1 and sum(step["own"]) == pytest.approx(1, abs=1e-3)
        ids.append(best)
    assert open_page(half="decoder", sentence="The quark sang").info


@pytest.mark.parametrize("sentence", ["The fox ran.", "The fox ran. " * 6])
def test_the_encoder_alone_is_bert_filling_blanks(sentence):
    app = open_page(half="encoder", sentence=sentence, model=MODEL)
    assert app.session_state["part"] == PARTS[0]
    loaded, steps = load(MODEL), sent(app)["steps"][1:-1]
    encoding = loaded.tokenizer.encode(sentence)
    drawn = sent(app)["sources"]
    assert drawn == encoding.tokens[: films.ROWS]  # what is not drawn is read, too
    words = [row for row, token in enumerate(drawn) if token.isalpha()]  # no full stop, [CLS] or [SEP]
    assert [step["row"] for step in steps] == words
    for step in steps:
        ids = [loaded.tokenizer.mask_id if at == step["row"] else i for at, i in enumerate(encoding.ids)]
        probs = expectations(loaded.model, ids, [step["row"]])[0].exp()
        assert step["word"] == loaded.tokenizer.vocab[int(probs.argmax())]
        assert step["share"] == f"{probs.max():.1%}"
        assert step["right"] == (step["word"] == encoding.tokens[step["row"]])
        assert (sum(step["looks"]) == pytest.approx(1, abs=1e-3)) == (len(drawn) == len(encoding))


@pytest.mark.parametrize("half", ["no such", "encoder", "decoder"])  # the first shows both
def test_the_picture_takes_any_text_and_none(half):
    app = open_page(part=PARTS[0], half=half)
    for text in ("", EVERYTHING, "…", "word " * 40):
        app.text_input(key="sentence").set_value(text)
        assert_no_markup(whole(app.run()))
        if app.get("bidi_component"):
            told = sent(app)
            assert max(len(told["sources"]), len(told["steps"]) - 2) <= told["rows"] <= 11
        else:
            assert app.info


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        ({"half": "both"}, False),
        ({"half": "encoder"}, True),
        ({"part": "Three masks"}, False),
        ({"part": "Train a Transformer"}, False),
    ],
)
def test_a_bert_is_chosen_where_one_reads_and_stays_chosen_elsewhere(query, reads):
    app = open_page(model=UNTRAINED, **query)
    assert ("model" in {box.key for box in app.selectbox}) == reads
    assert driver.part(app, "The block").selectbox(key="model").value == UNTRAINED


def test_a_sentence_that_came_along_opens_the_picture():
    app = AppTest.from_file(str(ROOT / "pages" / "encoder_decoder.py"), default_timeout=240)
    app.session_state["_typed"] = "The fox ran away"
    whole(app.run())
    assert app.session_state["part"] == PARTS[0]
    assert sent(app)["sources"][:-1] == ["the", "fox", "ran", "away"]


def test_the_sum_and_layer_norm_are_those_of_the_models_own_vectors():
    asked = {"sentence": "The fox ran", "layer": 2, "token": 3, "number": 5}
    app, (seen, block) = block_of(**asked, step=3), recorded("The fox ran")
    x, added = seen["blocks.0.out"][0, 2].double(), seen["blocks.1.attn.out"][0, 2].double()
    for name, vector in {"x": x, "f(x)": added, "x + f(x)": x + added}.items():
        assert metrics(app)[f"‖{name}‖"] == f"{vector.norm():.3f}"
    assert f"{x[4] + added[4]:.4f}" in app.latex[0].value
    for step, half, name in ((4, block.attention, "blocks.1.attn.norm"), (7, block.feed_forward, "blocks.1.out")):
        app = block_of(**asked, step=step)
        assert f"\\mathbf{{{half.normalized[2, 4]:.4f}}}" in app.latex[0].value
        assert half.normalized[2, 4].item() == pytest.approx(seen[name][0, 2, 4].item(), abs=1e-5)
        table = app.table[0].value
        assert list(table["mean"])[1] == "0.0000"
        assert list(table["variance"])[:2] == [f"{half.variance[2]:.4f}", "1.0000"]


def test_what_is_kept_is_the_cosine_of_input_and_output():
    app = block_of(sentence="The fox ran")
    seen, _block = recorded("The fox ran")
    grid = numbers(figure(app, "ed-kept")["data"][0]["z"])
    assert len(grid) == load(MODEL).config.num_hidden_layers
    cosine = torch.cosine_similarity(seen["embeddings.out"][0, 1].double(), seen["blocks.0.out"][0, 1].double(), dim=0)
    assert grid[0][1] == pytest.approx(cosine.item())
    for step in (1, 2, 5, 6):  # what the other steps show opens, too
        assert not block_of(step=step).warning
    assert block_of(model=UNTRAINED).warning


def test_the_three_masks_side_by_side():
    five = {"part": "Three masks", "sentence": "one two three four five"}
    app = open_page(**five, position=4, target=2, mask="both")
    fig = figure(app, "ed-masks")
    seen = [re.findall(r"\d of \d", note["text"]) for note in fig["layout"]["annotations"]]
    assert seen == [["5 of 5"], ["4 of 5"], ["4 of 5"]]  # by the encoder, the decoder, and both
    assert "**16 of 25**" in text_of(app)  # target from word 3 on: 2 × 2 in the source, then 3 + 4 + 5
    crossing = [t for t in fig["data"] if t["xaxis"] == "x3" and t["marker"]["symbol"] == "diamond"]
    cells = {tuple(cell) for trace in crossing for cell in trace["customdata"]}
    assert cells == {(row, column) for row in (2, 3, 4) for column in (0, 1)}  # from target to source
    teach = app.table[0].value.loc["Your tokens with a loss"]
    assert list(teach)[:2] == ["1 of 5 (20%)", "5 of 5 (100%)"]
    assert "**15 of 25**" in text_of(open_page(**five, mask="decoder"))
    app = open_page(part="Three masks", sentence="one two " * 10)  # more than fit side by side
    assert re.search(r"\b8\b.*\b20\b", captions(app))
    assert list(app.table[0].value.loc["Your tokens with a loss"])[1] == "20 of 20 (100%)"


@pytest.mark.release
@pytest.mark.trains
def test_a_run_learns_answers_and_is_taken_apart():
    app = open_page(part="Train a Transformer", task="copy", sentence="Two zebras sang")
    assert figure(app, "ed-next") is None
    with pytest.MonkeyPatch.context() as patch:  # a shorter run than the page's own
        submit = manager().submit

        def shorter(target, settings, **options):
            return submit(target, replace(settings, steps=20, held_out=20), **options)

        patch.setattr(manager(), "submit", shorter)
        whole(app.button(key="train").click().run())
    run = manager().runs()[0]
    until(lambda: run.over)
    assert run.state == "finished", run.error
    assert run.latest("started")["settings"]["task"] == "copy"
    words = run.latest("started")["details"]["words"]
    assert "zebras" in words
    whole(app.run())
    assert f" {len(words) - len(SPECIALS)} words" in text_of(app)  # the special entries are none
    mine = partial(open_page, owner=app.session_state["_owner"], part=PARTS[0])
    assert sent(mine())["steps"][1]["word"] in words  # it writes now
    model = Trained.load(run.result)
    decoding = model.decode(["two", "zebras", "sang"])
    assert f"{run.latest('eval')['metrics']['sequence_accuracy']:.1%}" in text_of(app)
    bars = figure(app, "ed-next")["data"][0]
    assert numbers(bars["x"]) == pytest.approx(decoding.probs[0].topk(5).values.tolist())
    cross = numbers(figure(app, "ed-cross")["data"][0]["z"])
    assert np.allclose(cross, decoding.attention("decoder.cross")[0, 0].numpy(), atol=1e-6)
    assert len(cross) == len(decoding.target)
    whole(app.text_input(key="sentence").set_value("the quark sang").run())
    assert any("quark" in box.value for box in app.info)
    for text in ("", EVERYTHING):
        app.text_input(key="sentence").set_value(text)
        assert_no_markup(whole(app.run()))
    assert figure(open_page(part="Train a Transformer"), "ed-next") is None  # another visitor
    (run.result / "seq2seq.safetensors").write_bytes(b"{}")  # the disk was full
    trained.trained.clear()
    assert whole(app.run()).warning
    again = mine()
    assert again.warning and not again.error
    assert sent(again)["steps"] == sent(open_page(part=PARTS[0]))["steps"]  # what ships writes


@pytest.mark.parametrize("after", ["nothing", "stop", "blanks"])
def test_what_bert_writes_is_its_first_guess_and_two_orders_are_two_numbers(after):
    app = open_page(part=PARTS[-1], model=MODEL, sentence="The fox ran.", after=after, write=3)
    model, tokenizer = load(MODEL).model, load(MODEL).tokenizer
    ids = tokenizer.encode("The fox ran.").ids
    stop = ids[-2:-1] if after == "stop" else []
    steps = list(write(model, tokenizer, ids[1:-2], 3, stop, blanks=5 if after == "blanks" else 1))
    chips = next(block.proto.body for block in app.get("html") if "mb-changed" in block.proto.body)
    for step in steps:
        assert f"<bdi>{html.escape(tokenizer.vocab[step.chosen])}</bdi>" in chips
    assert chips.count("mb-changed") == 3
    order = list(range(1, len(ids) - 1))
    there, back = (sum(chain(model, ids, o, tokenizer.mask_id)) for o in (order, order[::-1]))
    shown = [float(value.replace("−", "-")) for value in metrics(app).values()]
    assert shown == pytest.approx([there, back], abs=0.006) and not math.isclose(there, back, abs_tol=0.01)


@pytest.mark.parametrize("damaged", [None, "seq2seq.json", "seq2seq.safetensors"])
def test_without_what_writes_the_page_says_so_and_the_encoder_stays(monkeypatch, tmp_path, damaged):
    if damaged:
        shutil.copytree(trained.SHIPPED, tmp_path, dirs_exist_ok=True)
        (tmp_path / damaged).write_text("[]")
    monkeypatch.setattr(trained, "SHIPPED", tmp_path)
    assert len(open_page(part="Read and write").error) == 1
    assert not open_page(part="Read and write", half="encoder").error


@pytest.mark.parametrize("part", PARTS[1:])
def test_any_text_and_any_link_open(part):
    app = open_page(part=part, layer=99, token=0, step="x", mask="none", position=-3, half="no")
    for text in ("", EVERYTHING):
        app.text_input(key="sentence").set_value(text)
        assert_no_markup(whole(app.run()))
