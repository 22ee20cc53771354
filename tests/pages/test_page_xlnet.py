"""The XLNet page: an order and its two masks, two streams as one row, words that go together, and the memory of the row
before, each as the model computes it."""

import math
import re

import pytest
import torch

from minibert import checkpoint
from minibert.model import IGNORE, Batch
from minibert.relatives.parts.permutation import content_mask, query_mask
from minibert.relatives.parts.segment_memory import guess_on, read_on
from minibert.toy.collocations import at_once, in_order
from minibert.toy.segments import SegmentSettings, train_on_segments
from sections.xlnet.subject import orders
from tests.pages.driver import ROOT, figure, html_of, open_page, text_of, whole
from tests.pages.finished_runs import run_of
from ui.claim import records_of
from ui.lesson import Lesson

LESSON = Lesson("xlnet")
FOLDER = ROOT / "checkpoints" / "xlnet-toy"
TEXT = "leo was sick, so clara gave him some medicine."
ROWS = ("felix was an eager boy. felix lost the scarf.", "he searched alone.")


@pytest.fixture(scope="module")
def models():
    both = (checkpoint.load(FOLDER / name).eval() for name in ("xlnet", "bert"))
    return *both, checkpoint.load_tokenizer(FOLDER / "xlnet")


def shown_order(app) -> list[int]:
    return [int(n) for n in re.findall(r'<li class="(?:guessed|given)"><bdi>.*?</bdi><b>(\d+)</b></li>', html_of(app))]


def open_cells(app, panel: int) -> set[tuple[int, int]]:
    squares = [trace for trace in figure(app, "orders")["data"] if trace["marker"]["symbol"] == "square"]
    return {(row, column) for trace in squares for where, row, column, *_ in trace["customdata"] if where == panel}


def test_both_masks_follow_the_order_that_is_drawn(runs_folder):
    app = open_page("xlnet", owner="me", text=TEXT, seed=3)
    app = whole(app.number_input(key="seed").set_value(None).run())  # an empty field stands for the first order
    first = shown_order(app)
    assert sorted(first) == list(range(1, len(first) + 1))
    app = whole(app.button(key="draw").click().run())
    second = shown_order(app)
    assert second != first
    order = torch.tensor([second])
    for panel, mask in enumerate((content_mask(order), query_mask(order))):
        assert open_cells(app, panel) == {tuple(cell) for cell in mask[0].nonzero().tolist()}
    assert html_of(app).count('class="guessed"') == 2  # a sixth of eleven
    assert orders(3, "right", 0) == [1, 2, 3] and orders(3, "left", 0) == [3, 2, 1]


@pytest.mark.parametrize(
    ("stream", "row", "column", "may"),
    [(1, 3, 3, True), (2, 3, 3, False), (2, 5, 2, True), (2, 2, 5, False)],  # itself; what is read before, and after
)
def test_a_cell_says_whether_a_word_sees_the_other(runs_folder, stream, row, column, may):
    app = open_page("xlnet", owner="me", text=TEXT, order="right", stream=stream, row=row, column=column)
    (line,) = [block.value for block in app.markdown if "→" in block.value]
    assert f": {'yes' if may else 'no'}." in line
    assert row == column or set(re.findall(r"number (\d+)", line)) == {str(row), str(column)}


def test_two_streams_are_one_row(runs_folder):
    app = open_page("xlnet", owner="me", text=TEXT, part="Two streams")
    differ = re.search(r"\*\*(\d[0-9.]*e[-+]?\d+|0|0\.0\d*)\*\*", text_of(app))
    assert float(differ[1]) < 1e-5
    assert figure(app, "double")["data"]


def test_joint_probabilities_are_the_models(runs_folder, models):
    app = open_page("xlnet", owner="me", text=TEXT, part="Words together", first=3, second=10)
    xlnet, bert, tokenizer = models
    ids = tokenizer.encode(TEXT).ids
    wanted = [
        float(torch.tensor(way(model, ids, (3, 10), tokenizer.mask_id)).sum().exp())
        for model in (bert, xlnet)
        for way in (at_once, in_order)
    ]
    assert figure(app, "joint")["data"][0]["text"] == [f"{value:.2%}" for value in wanted]
    app = open_page("xlnet", owner="me", text=TEXT, part="Words together")  # the usual words are some that go together
    assert app.selectbox(key="choice-first").value == 2 and app.selectbox(key="choice-second").value == 9


def test_the_lesson_s_probabilities_are_the_model_s(models):
    xlnet, _, tokenizer = models
    said = list(map(int, re.findall(r"(\d+) %", LESSON.section("Words that go together")[1])))
    (example, hidden), found = next(iter(LESSON.points.items())), []
    for text, other, word in ((example, "an", hidden), (TEXT, "sick", "medicine")):
        encoding = tokenizer.encode(text)
        places = [encoding.tokens.index(one) for one in (other, word)]
        (alone,) = at_once(xlnet, encoding.ids, places, tokenizer.mask_id)[1:]
        (given,) = in_order(xlnet, encoding.ids, places, tokenizer.mask_id)[1:]
        found += [100 * math.exp(alone), 100 * math.exp(given)]
    assert said == list(map(round, found))


# --- memory -----------------------------------------------------------------------------------------------------------


@torch.no_grad()
def expected(models, place: int, memory: bool) -> float:
    """P of the word at `place` of the second row, by the two functions the page does not call itself."""
    network, _, tokenizer = models
    first, second = (torch.tensor([tokenizer.encode(text, add_special=False).ids]) for text in ROWS)
    labels = torch.full_like(second, IGNORE)
    labels[0, place] = second[0, place]
    read = read_on(network.bert, Batch(first))[1] if memory else None
    return float(guess_on(network, Batch(second, labels=labels), read)[0].mlm_logits[0].softmax(-1)[second[0, place]])


@pytest.mark.parametrize("place", [0, 1])
def test_the_word_is_expected_as_the_model_does(runs_folder, models, place):
    app = open_page("xlnet", owner="me", part="Memory", before=ROWS[0], behind=ROWS[1], place=place + 1)
    shares = [float(share) / 100 for share in re.findall(r"\*\*([\d.]+)%\*\*", text_of(app))]
    assert shares[-2:] == pytest.approx([expected(models, place, memory) for memory in (True, False)], abs=6e-4)
    assert [bar["name"] for bar in figure(app, "memory-attention")["data"]] == ["memory", "its own row"]
    assert figure(app, "memory-expected")


def test_an_example_fills_in_both_rows(runs_folder):
    app = open_page("xlnet", owner="me", part="Memory")
    before = [app.text_input(key=key).value for key in ("before", "behind")]
    assert app.button_group(key="rows-0-example").value == 0
    app = whole(app.button_group(key="rows-0-example").set_value(2).run())
    after = [app.text_input(key=key).value for key in ("before", "behind")]
    assert all(one and one != other for one, other in zip(after, before, strict=True))
    app = whole(app.text_input(key="behind").set_value("she slept.").run())
    assert app.button_group(key="rows-1-example").value is None
    for first, second in (("", "he slept."), ("felix was tired.", " ")):
        app.text_input(key="before").set_value(first)
        app = whole(app.text_input(key="behind").set_value(second).run())
        assert app.info and not figure(app, "memory-expected")


@pytest.mark.trains
def test_two_that_learned_are_laid_over_each_other(runs_folder):
    for name in ("alone", "memory"):
        settings = SegmentSettings(2, name == "memory", batch_size=2, stories=6, held_out=6, evaluate_every=1)
        run_of(train_on_segments(settings, FOLDER / "xlnet"), f"xlnet-memory/{name}", owner="trains", title=name)
    lines = figure(open_page("xlnet", owner="trains", part="Its worth"), "memory-learned")["data"]
    assert len([line for line in lines if line.get("name")]) == 4


def test_one_learns_with_memory_and_one_without(asked_for):
    app = open_page("xlnet", owner="else", part="Its worth")
    app.slider(key="memory-steps").set_value(50)
    whole(app.button(key="train-memory").click().run())
    assert [arguments[0] for _, arguments, _ in asked_for] == [SegmentSettings(50, False), SegmentSettings(50, True)]


def test_what_has_been_recorded_is_what_the_words_say(monkeypatch):
    monkeypatch.delenv("MINIBERT_RESULTS", raising=False)
    for record in records_of("xlnet_memory"):
        first, last = record["curve"][0][1], record["metrics"]
        if record["arm"] == "memory":
            assert 0.87 < first["before"] < 0.89 < last["before"] and last["before_forgotten"] < 0.42
        else:
            assert first["before"] < 0.39 < last["before"] < 0.43
