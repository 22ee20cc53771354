"""The tabs of Smaller models on cutting and on search: a tiny model is cut, retrained, searched, and drawn."""

import re

import pytest

from minibert import checkpoint
from minibert.config import BertConfig
from minibert.experiments.relative_catalogue import REQUIRED
from minibert.experiments.results import read_records
from minibert.model import BertForPreTraining
from minibert.pruning.importance import batches_of, importance
from minibert.pruning.keep import normalised
from minibert.pruning.run import importance_examples
from minibert.pruning.search import SearchSpace, search
from sections.smaller.learn import settings
from sections.smaller.search import KIND, shape
from tests.pages.driver import ROOT, captions, figure, open_page, text_of, whole
from tests.pages.finished_runs import finished_run, run_here, run_of, spelling_predictor
from tests.spelling import spelling_tokenizer
from ui.classifiers import EVERYONE, RECIPES
from ui.task_data import shipped

CUT, SEARCH, CLAIM = "Cut away", "Search", "The claim"
TEXT = "It is a film."


def two_layers(**sizes) -> BertConfig:
    return BertConfig(**{**sizes, "num_hidden_layers": 2})


@pytest.fixture(scope="module")
def trained(runs_folder, tmp_path_factory):
    """The class's classifier, of random weights: two layers of two heads and 32 neurons."""
    from ui.runs import manager

    predictor = spelling_predictor("classification", ["negative", "positive"], two_layers)
    dev, folder = shipped("reviews").dev.examples, tmp_path_factory.mktemp("models")
    finished_run(manager(), folder, predictor, dev, kind=RECIPES[0].kind, owner=EVERYONE)
    return predictor


def left(app) -> list[float]:
    """What each layer keeps of its neurons, in per cent: where the line stands."""
    return [shape["x0"] for shape in figure(app, "worth")["layout"]["shapes"] if shape["type"] == "line"]


def drawn() -> set[str]:
    """First words of the bubbles of the class's runs in the picture above."""
    points = figure(open_page("smaller", text=TEXT, drawn="own"), "tradeoff")["data"]
    return {one["hovertemplate"].split()[0] for one in points if "hovertemplate" in one}


def test_before_there_is_a_classifier_it_says_what_to_do(runs_folder):
    app = open_page("smaller", part=CUT)
    assert app.button(key="train-reviews") and figure(app, "worth") is None


def test_the_least_important_go_and_the_table_says_what_that_saves(trained):
    app = open_page("smaller", part=CUT, text=TEXT, what="neurons", share=75, by="loss")
    assert any(re.search(r"4 heads: rank correlation -?\d\.\d\d", one.value) for one in app.caption)
    app = open_page("smaller", part=CUT, text=TEXT, what="neurons", share=75)
    worth = importance(trained.model, batches_of(trained, importance_examples(shipped("reviews").train.examples)))
    squares, _crosses, _strips = figure(app, "worth")["data"]
    flat = [value for row in normalised(worth.heads) for value in row]  # what decides who goes
    assert squares["marker"]["color"] == pytest.approx([value / max(flat) for value in flat], rel=1e-3)
    assert sum(left(app)) == pytest.approx(50.0)  # a quarter of two layers
    table = app.table[0].value
    before, cut, zeros = (int(number.replace(",", "")) for number in table["parameters"])
    assert before - cut == 48 * (16 + 1 + 16) and zeros == before
    assert all("tive, " in said for said in table["says"])


@pytest.mark.parametrize(
    ("query", "crossed", "lines"),
    [
        ({"what": "heads", "share": 0, "gone": "1.2,2.1,9.9"}, 2, [100, 100]),
        ({"what": "layers", "share": 100}, 2, None),  # one of two stays
        ({"what": "weights", "share": 50}, 0, [100, 100]),
        ({"what": "heads", "share": 100, "gone": "x.y,1"}, 4, [100, 100]),
    ],
)
def test_what_is_asked_is_cut(trained, query, crossed, lines):
    app = open_page("smaller", part=CUT, text=TEXT, **query)
    marks = figure(app, "worth")["data"][1]
    assert len(marks["x"]) == crossed
    assert left(app) == lines if lines else sorted(left(app)) == [0, 100]
    assert len(app.table[0].value) == (2 if query["what"] == "weights" else 3)


@pytest.mark.release
@pytest.mark.trains
def test_what_is_left_learns_beside_the_whole_and_both_join_the_picture(trained, asked_for, tmp_path):
    app = open_page("smaller", owner="me", part=CUT, text=TEXT, what="neurons", share=50)
    whole(app.button(key="retrain").click().run())
    assert len(asked_for) == 2
    runs = [run_here(call, tmp_path / str(n), owner="me", epochs=1) for n, call in enumerate(asked_for)]
    app = open_page("smaller", owner="me", part=CUT, text=TEXT, what="neurons", share=50)
    assert {run.title for run in runs} == {line["name"] for line in figure(app, "students")["data"]}
    table = next(one.value for one in app.table if "neurons left" in one.value)
    kept = sorted([int(n) for n in row.split()] for row in table["neurons left"])
    assert [32, 32] in kept and 32 in map(sum, kept)
    assert all(right.count("→") == 2 for right in table["right"])
    assert {"cut", "uncut"} <= drawn()
    asked_for.clear()
    app = open_page("smaller", owner="me", part=CUT, text=TEXT, what="heads", share=50)
    whole(app.button(key="retrain").click().run())
    assert len(asked_for) == 1  # the whole has learned already


@pytest.mark.release
def test_a_search_is_drawn_with_what_it_found(runs_folder, tmp_path):
    letters, data, learn = spelling_tokenizer(), shipped("reviews"), settings(0, 1, 1e-3)
    config = BertConfig(letters.vocab_size, 16, 2, 2, 32, max_position_embeddings=256)
    start = checkpoint.save(tmp_path / "start", BertForPreTraining(config), letters)
    space, out, probe_inputs = SearchSpace((1, 2), (1, 2), (16, 32)), tmp_path / "out", [{"text": TEXT}]
    events = search(
        start,
        "classification",
        data.train,
        data.dev,
        learn,
        learn,
        budget=100.0,
        space=space,
        out=out,
        probe_inputs=probe_inputs,
    )
    run = run_of(events, KIND, owner="you", title="search, 100 ms", folder=out)
    found = run.latest("found")
    app = open_page("smaller", owner="you", part=SEARCH, text=TEXT)
    assert len(figure(app, "parts")["data"][1]["x"]) == 8 and len(figure(app, "parts")["layout"]["shapes"]) == 1
    assert f"**{shape(found['name'])}**" in text_of(app)
    says = next(one.value for one in app.table if "says" in one.value)
    assert list(says["who"]) == [run.title]
    assert "found" in drawn()


def test_a_recorded_search_stands_there_before_one_is_begun(runs_folder):
    app = open_page("smaller", owner="nobody", part=SEARCH, text=TEXT)
    records = read_records(ROOT / "lessons" / "results" / "search.jsonl", REQUIRED)
    candidates = next(record["candidates"] for record in records if record.get("candidates"))
    front, marks, *_ = figure(app, "parts")["data"]
    there = [ms for _name, ms, *_ in candidates]
    here = [ms / max(marks["x"]) for ms in marks["x"]]  # another machine's times, scaled to this one's
    assert here == pytest.approx([ms / max(there) for ms in there]) and len(candidates) == 36
    assert f"{max(marks['x']):.2f} ms" in captions(app)  # what all of mini-en needs
    assert front["mode"] == "lines"


def test_what_is_searched_is_the_shipped_model_and_is_told_the_readers_text(asked_for):
    app = open_page("smaller", owner="they", part=SEARCH, text=TEXT, budget=1.5)
    whole(app.button(key="begin-search").click().run())
    ((_, arguments, options),) = asked_for
    assert arguments[0].endswith("mini-en") and options["probe_inputs"] == [{"text": TEXT}]
    assert options["budget"] == app.slider(key="budget").value


def test_every_statement_has_a_verdict():
    for claim, statements in (("cut", 7), ("search", 4)):
        app = open_page("smaller", part=CLAIM, claim=claim)
        (rows,) = (table.value for table in app.table if "verdict" in table.value)
        assert len(rows) == statements
        assert (figure(app, "over-shares") is not None) == (claim == "cut")
