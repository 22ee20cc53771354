"""The next-sentence page: its pairs, its judgements, the game, the counts, its links, and the papers' numbers."""

import csv
import html
import re
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from minibert.inside.predictions.next_sentence import deal, decisions, documents_in, judge, measure, probes, teach_order
from minibert.text.documents import read_documents
from minibert.text.store import TokenStore
from minibert.training.statistics import wilson
from sections.next_sentence import judged
from tests.hostile import EVERYTHING
from tests.pages import driver
from tests.pages.driver import ROOT, assert_no_markup, figure, link, metrics, text_of, whole
from ui.lesson import Lesson
from ui.model_cache import load
from ui.model_registry import available_models
from ui.predict import tally

LESSON = Lesson("next_sentence")
MODEL = available_models(judge=True)[0].name
open_page = partial(driver.open_page, "next_sentence")
GAME, MAKING, JUDGED = "You first", "How pairs are made", "Judged live"
KINDS, TAUGHT, PAPERS = "Topic against coherence", "Can it be taught?", "Was it of any use?"


@pytest.fixture(scope="module")
def counted():
    """What the page measures: the documents of the course, two sentences on each side."""
    folder = ROOT / "lessons" / "data" / "documents"
    first, again = (list(read_documents([folder / f"{name}.txt"])) for name in ("topics", "again"))
    documents, topics = first + again, [*range(len(first)), *range(len(again))]
    loaded = load(MODEL)
    return documents, topics, measure(loaded.model, loaded.tokenizer, documents, topics)


def tables(app: AppTest) -> list[str]:
    bodies = (block.proto.body for block in app.get("html"))
    return [body for body in bodies if "ns-rows" in body and "<tr" in body]


def rows(table: str) -> list[tuple[str, list[str]]]:
    return [
        (css, [html.unescape(re.sub("<[^>]+>", "", cell)) for cell in re.findall("<td[^>]*>(.*?)</td>", body)])
        for css, body in re.findall(r'<tr class="([^"]*)">(.*?)</tr>', table)
    ]


def made_of(text: str, length: int, seed: int):
    tokenizer = load(MODEL).tokenizer
    store = TokenStore.build(documents_in(text), tokenizer)
    made = decisions(store, length, seed, 0.1)
    return sorted(made, key=lambda one: (one.document, one.chunk[0][0])), store, tokenizer


def pairs_next_and_random(app: AppTest) -> list[int]:
    return [int(n) for n in re.search(r"\*\*(\d+) pairs?\*\*\D+(\d+)\D+(\d+)", text_of(app)).groups()]


def test_the_pairs_are_those_of_the_settings_and_the_steps_tell_one_story():
    app = open_page(part=MAKING, model=MODEL, seed=3, length=40, step=1)
    made, store, tokenizer = made_of(app.text_area(key="documents").value, 40, 3)
    random = sum(one.random_next for one in made)
    assert pairs_next_and_random(app) == [len(made), len(made) - random, random]
    for (_css, cells), one in zip(rows(tables(app)[0]), made, strict=True):
        assert [cells[1], cells[4]] == [str(one.document + 1), "random" if one.random_next else "next"]
        assert tokenizer.decode(store.ids[one.pair.a].tolist()).startswith(cells[2].rstrip("…"))
        assert cells[5] == str(len(one.pair.a) + len(one.pair.b) + 3)
    number, one = next((i, one) for i, one in enumerate(made) if one.random_next and one.put_back)
    whole(app.pills(key="pair").set_value(number).run())
    roles = []
    for step in range(4):
        whole(app.button(key=f"step-{step}").click().run())
        roles.append([cells[0] for _css, cells in rows(tables(app)[1]) if cells[0]])
    size, end = len(one.chunk), one.end_of_a
    assert roles == [["chunk"] * size, *[["A"] * end] * 2, ["A"] * end + ["back"] * (size - end)]
    drawn = rows(tables(app)[2])
    assert all(cells[0] == "B" for _css, cells in drawn) and sum(int(cells[3]) for _css, cells in drawn) == len(one.b)
    whole(app.button(key="step-5").click().run())
    chips = next(block.proto.body for block in app.get("html") if "mb-tokens" in block.proto.body)
    tokens = [html.unescape(t) for t in re.findall("<bdi>(.*?)</bdi>", chips)]
    segments = [int(s) for s in re.findall("<small>(.*?)</small>", chips)]
    words = [[tokenizer.vocab[i] for i in store.ids[part].tolist()] for part in (one.pair.a, one.pair.b)]
    assert tokens == ["[CLS]", *words[0], "[SEP]", *words[1], "[SEP]"]
    assert segments == [0] * (len(words[0]) + 2) + [1] * (len(words[1]) + 1)
    assert link(app, "step") == "6" and link(app, "pair") == str(number + 1)


def test_single_sentences_are_always_random_and_one_document_has_no_random_b():
    app = open_page(part=MAKING, documents="A cat slept.\n\nIt rained.\n\nThe bus was late.")
    assert pairs_next_and_random(app) == [3, 0, 3] and not app.warning
    assert figure(app, "shares")["data"][0]["text"] == ["100%"]
    assert open_page(part=MAKING, documents="One sentence. Another one. A third one. The fourth.").warning


def test_any_text_breaks_nothing():
    app = open_page(part=MAKING)
    for text in ("", f"{EVERYTHING}\n\n{EVERYTHING}", "one. two. " * 3_000):
        app.text_area(key="documents").set_value(text)
        assert_no_markup(whole(app.run()))
        for step in (2, 4, 5):
            if any(button.key == f"step-{step}" for button in app.button):
                assert_no_markup(whole(app.button(key=f"step-{step}").click().run()))
    app = open_page(part=JUDGED)
    for text in ("", EVERYTHING):
        for key in ("a", "b"):
            app.text_area(key=key).set_value(text)
        assert_no_markup(whole(app.run()))


def written(app: AppTest) -> list[str]:
    return [re.sub("<.*?>", "", note["text"]) for note in figure(app, "judgement")["layout"]["annotations"]]


def test_a_judgement_is_the_models():
    a, b = "She fed the dog.", "It wagged its tail."
    app = open_page(part=JUDGED, model=MODEL, a=a, b=b)
    loaded = load(MODEL)
    forth, back = judge(loaded.model, loaded.tokenizer, [(a, b), (b, a)])
    assert written(app) == [f"{forth:.1%}", f"{back:.1%}"]


@pytest.mark.parametrize(("kind", "follows"), [("milk", True), ("penguins", False)])
def test_the_well_read_model_judges_the_papers_pairs_right(kind, follows):
    app = open_page(part=JUDGED, kind=kind, model="minilm-en")
    assert [app.text_area(key="a").value, app.text_area(key="b").value] == list(judged.PAPERS["en"][kind])
    assert (float(written(app)[0].rstrip("%")) > 50) == follows


@pytest.mark.parametrize(("kind", "other"), [("next", "swapped"), ("swapped", "next")])
def test_examples_are_pairs_of_their_kind_and_a_changed_text_is_kept(kind, other, counted):
    app = open_page(part=JUDGED, kind=kind, example=3)
    a, b = (app.text_area(key=key).value for key in "ab")
    found = next(p for p in probes(*counted[:2]) if (p.a, p.b) == (a, b))
    assert found.kind == kind
    app.button(key="another").click().run()
    assert app.text_area(key="a").value != a
    assert link(app, "example") == "4"
    whole(app.text_area(key="b").set_value("Something else.").run())
    assert app.text_area(key="b").value == "Something else."
    whole(app.pills(key="kind").set_value(other).run())
    assert app.text_area(key="b").value != "Something else."


def test_a_bad_link_falls_back():
    link = {"kind": "nonsense", "example": 10**9, "pair": "x", "step": 99, "sentences": 7, "round": "-1", "length": "a"}
    assert open_page(**link, part=JUDGED).pills(key="kind").value == "next"
    assert open_page(**link, model=MODEL, part=KINDS).segmented_control(key="sentences").value == 2
    assert open_page(**link).session_state["part"] == GAME


def test_the_answer_comes_after_the_guess(counted):
    documents, topics, result = counted
    app = open_page(model=MODEL, against="swapped", round=5)
    asked = probes(documents, topics)
    right = np.zeros(3, int)  # the reader's, the model's, and those of the topic alone
    dealt = deal(asked, "swapped", 10, 5)
    for voter, said in (("x", "True"), ("y", "False")):  # the room is counted, without names
        tally().vote(f"next-sentence\nswapped\n{asked[dealt[0]].a}\n{asked[dealt[0]].b}", voter, said)
    for place, row in enumerate(dealt):
        assert not [*app.success, *app.error, *app.metric]
        assert asked[row].a[:20] in text_of(app)
        guess, truth = place % 2 == 0, asked[row].kind == "next"
        whole(app.button(key=f"guess-{guess}").click().run())
        assert (len(app.success), len(app.error)) == ((1, 0) if guess == truth else (0, 1))
        model_right, topic_right = (result.probs[row] > 0.5) == truth, result.topic.follows[row] == truth
        right += [guess == truth, model_right, topic_right]
        judges = metrics(app)
        if place == 0:
            assert judges[f"The room {'✓' if truth else '✗'}"] == f"{2 if truth else 1} / 3"
        assert judges[f"{MODEL} {'✓' if model_right else '✗'}"] == f"IsNext {result.probs[row]:.0%}"
        assert f"Topic only {'✓' if topic_right else '✗'}" in judges
        whole(app.button(key="turn").click().run())
    assert list(metrics(app).values()) == [f"{n} of 10" for n in right]
    whole(app.button(key="new-round").click().run())
    assert not app.metric and link(app, "round") == "6"


def test_the_table_and_the_figure_are_the_measurement(counted):
    result = counted[2]
    assert re.findall(r"from (\d+) short", LESSON.section("Topic against coherence")[1]) == [str(len(counted[0]))]
    app = open_page(model=MODEL, part=KINDS)
    lines = next(block.value for block in app.markdown if block.value.startswith("| B is")).split("\n")[2:]
    drawn = figure(app, "kinds")["data"]
    for place, (kind, line) in enumerate(zip(result.rows, lines, strict=True)):
        head, topic, n = result.judged_next(kind)
        cells = [cell.strip().replace("\u2060", "").replace("\u00a0", " ") for cell in line.strip("|").split("|")]
        assert cells[1] == str(n)
        for cell, count in zip(cells[2:4], (head, topic), strict=True):
            low, high = wilson(count, n)
            assert cell == f"{count} = {count / n:.1%} ({low * 100:.0f}–{high:.0%})"
        if kind != "next":
            wins = result.ranked_higher(kind)
            assert cells[4:] == [f"{wins[0] / n:.1%}", f"{wins[1] / n:.1%}"]
        assert drawn[0]["x"][place] == pytest.approx(head / n) and drawn[1]["x"][place] == pytest.approx(topic / n)
    assert all(f"**{right:.1%}**" in text_of(app) for right in result.accuracy("elsewhere"))


@pytest.mark.release
def test_what_the_prose_says_of_the_two_models(counted):
    """In whole percent, for passages of two sentences: both are right by topic, and "next" is said as often to the same
    pair swapped."""
    prose = LESSON.section("What you see")[1]
    better = load("minilm-en")
    results = {"mini-en": counted[2], "minilm-en": measure(better.model, better.tokenizer, *counted[:2])}
    for name, result in results.items():
        (right,) = [float(share) for share in re.findall(rf"`{name}` in (\d+) %", prose)]
        assert right == round(100 * result.accuracy("elsewhere")[0])
    told = results["minilm-en"]
    shares = [round(100 * told.judged_next(kind)[0] / told.judged_next(kind)[2]) for kind in ("next", "swapped")]
    assert f"“next” to {shares[0]} % of the true continuations, and to {shares[1]} % of the same pairs swapped" in prose
    wins, _topic, n = told.ranked_higher("swapped")
    low, high = wilson(wins, n)
    assert low < 0.55 and high < 0.7  # hardly better than guessing


@pytest.mark.release
@pytest.mark.trains
def test_a_new_layer_is_trained_on_demand(counted):
    app = open_page(model=MODEL, part=TAUGHT)
    assert not app.metric
    whole(app.button(key="teach").click().run())
    loaded = load(MODEL)
    results = teach_order(loaded.model, loaded.tokenizer, probes(*counted[:2]))
    assert [metric.value for metric in app.metric] == [f"{right / n:.1%}" for right, n in results.values()]


def read(name: str) -> list[dict[str, str]]:
    with (LESSON.folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_papers_numbers():
    """Devlin et al. 2019, table 5; Liu et al. 2019, table 2; Lan et al. 2020, table 5."""
    table = {(row["paper"], row["task"]): (float(row["with"]), float(row["without"])) for row in read("nsp_or_not.csv")}
    assert table["bert", "MNLI-m"] == (84.4, 83.9) and table["bert", "QNLI"] == (88.4, 84.9)
    assert table["bert", "SQuAD 1.1"] == (88.5, 87.9) and table["roberta", "SQuAD 2.0"] == (78.7, 79.7)
    assert all(with_ > without for (paper, _task), (with_, without) in table.items() if paper == "bert")
    assert sum(with_ < without for (paper, _), (with_, without) in table.items() if paper == "roberta") == 4
    assert {row["trained"]: (row["nsp"], row["sop"]) for row in read("albert.csv")}["nsp"] == ("90.5", "52.0")
    assert not open_page(part=PAPERS).error  # where they are drawn


def test_an_untrained_model_is_said_to_be_one():
    assert len(open_page(part=KINDS, sentences=3, model="untrained").warning) == 1
