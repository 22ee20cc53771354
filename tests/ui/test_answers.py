"""Inputs, answers and reviews of every task, drawn; whatever stands in the texts."""

import html
import json
import re
from dataclasses import asdict, replace
from functools import cache

import pytest
import streamlit
import torch
from hypothesis import given
from hypothesis import strategies as st

from minibert.config import BertConfig
from minibert.finetune.evaluation import evaluate
from minibert.finetune.predictor import Predictor
from minibert.tasks import TASKS, Options
from minibert.tasks.sampling import spread
from minibert.tasks.spans import Answer, SpanExample
from minibert.tokenizer import Tokenizer
from tests.hostile import HOSTILE
from tests.pages.driver import html_of, plain, text_of
from tests.shipped import DATA, SETS
from tests.ui.driver import opened
from ui.answers import PAGE, answer_form, headline, show_answer, show_review
from ui.highlights import Highlight, between, excerpt, hues, marked_html
from ui.task_input import show_input
from ui.tasks.classes import CLASSES
from ui.text import visible

EVIL = HOSTILE["script"]
every_task = pytest.mark.parametrize("name", list(TASKS))


@cache
def untrained(name: str):
    """(predictor with random weights, some examples of the embedded data)."""
    task = TASKS[name]
    data = task.read(DATA / SETS[name])
    data = data.take(spread(len(data.examples), 16))
    tokenizer = Tokenizer.from_directory("checkpoints/mini-en")
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=96,
        initializer_range=0.6,
    )
    options = Options(max_length=96, doc_stride=48)
    torch.manual_seed(0)
    return Predictor(task.head(config, task.labels(data), options).eval(), tokenizer, task, options), data


def evil(example):
    """The example with the hostile text in every field that a user fills, and its labels hostile too."""
    changes = {}
    for name, value in asdict(example).items():
        if name == "words":
            changes |= {"words": (EVIL, *value[1:]), "tags": (f"B-{EVIL}", *example.tags[1:]), "text": None}
        elif name in ("text", "pair", "question") and "words" not in asdict(example):
            changes[name] = f"{EVIL} {value}" if name != "text" or not hasattr(example, "intent") else f"{value} {EVIL}"
        elif name == "context":
            changes[name] = f"{value} {EVIL}"
        elif name == "choices":
            changes[name] = tuple(f"{EVIL} {choice}" for choice in value)
    return replace(example, **changes)


def everything(run) -> str:
    return html_of(run) + "".join(block.value for block in [*run.markdown, *run.caption])


def asked(name, example):
    """The headline of the answer, drawn with its question."""
    predictor, _data = untrained(name)
    show_input(TASKS[name], predictor.tokenizer, example, predictor.labels, predictor.options, "in")
    given = answer_form(TASKS[name], example, "k")
    answer = predictor.predict([given])[0]
    show_answer(TASKS[name], given, answer, "out")
    return headline(TASKS[name], answer)


def form(name, examples):
    which = streamlit.number_input("example", 0, len(examples) - 1, key="which")
    return answer_form(TASKS[name], examples[which], "own")


def reviewed(labels, confusion, *cases, measured_on=1):
    """The review of texts, each (text, its label, the answer, how sure)."""
    examples = [{"text": text, "label": label, "extra": {}} for text, label, _said, _p in cases]
    said = [
        {"label": said, "probabilities": {**dict.fromkeys(labels, 0.0), said: p}, "grade": float(said == label)}
        for _text, label, said, p in cases
    ]
    evaluation = {"labels": labels, "confusion": confusion, "measured_on": measured_on, "predictions": said}
    return opened(show_review, TASKS["classification"], examples, evaluation, "review")


@every_task
def test_a_hostile_example_is_built_asked_and_answered_as_text(name):
    _predictor, data = untrained(name)
    run = opened(asked, name, evil(data.examples[0]))
    assert "[CLS]" in html_of(run) and "mb-segment-a" in html_of(run)
    assert "<img" not in everything(run) and "</script>" not in everything(run)
    assert any(EVIL in field.value for field in [*run.text_input, *run.text_area])
    words, number = run.session_state["got"]
    assert words and isinstance(number, float)
    figures = run.get("plotly_chart")
    assert all(figure.proto.alt for figure in figures) and (figures or name == "tagging")


@every_task
def test_hostile_text_is_reviewed_as_text_and_all_mistakes_can_be_seen(name):
    predictor, data = untrained(name)
    data = replace(data, examples=[evil(example) for example in data.examples])
    told = [[asdict(example) for example in data.examples], evaluate(predictor, data).details]
    examples, evaluation = json.loads(json.dumps(told))  # as a run's events hold them
    labels = evaluation["labels"]
    if not isinstance(labels, dict) and labels[0] not in ("start", "score", "O"):  # a hostile label, too
        text = json.dumps([examples, evaluation]).replace(json.dumps(labels[0]), json.dumps(EVIL))
        examples, evaluation = json.loads(text)
    run = opened(show_review, TASKS[name], examples, evaluation, "review")
    assert "<img" not in everything(run) and "</script>" not in everything(run)
    assert "&lt;/script&gt;&lt;img" in html_of(run) and 1 <= html_of(run).count("<li>") <= PAGE
    assert run.get("plotly_chart") and all(figure.proto.alt for figure in run.get("plotly_chart"))
    for figure in run.get("plotly_chart"):
        assert "<img" not in figure.proto.spec and "\\u003cimg" not in figure.proto.spec
    if name == "similarity":  # never quite right
        assert html_of(run).count("<li>") == PAGE
        run.get("button_group")[0].set_value("all").run()
        assert html_of(run).count("<li>") == len(examples) == 16


def test_the_surest_mistake_comes_first():
    cases = ("unsure", "good", "bad", 0.6), ("sure", "good", "bad", 0.9), ("right", "good", "good", 0.8)
    run = reviewed(["bad", "good"], [[0, 0], [2, 1]], *cases, measured_on=9)
    shown = html_of(run).split("<li>")[1:]
    assert ["unsure" in case for case in shown] == [False, True] and "90.0%" in shown[0]
    assert re.search(r"\b2\b.*\b3\b", run.markdown[0].value) and "9" in run.caption[0].value
    assert "<li>" not in html_of(reviewed(["bad", "good"], [[0, 0], [0, 1]], ("fine", "good", "good", 0.9)))


def test_of_many_classes_the_most_confused_are_drawn():
    labels = [f"class {i}" for i in range(CLASSES + 6)]
    matrix = [[5 * (i == j) for j in range(len(labels))] for i in range(len(labels))]
    matrix[28][29] = 3
    run = reviewed(labels, matrix, ("x", "class 28", "class 29", 0.9))
    chart = run.get("plotly_chart")[0].proto
    heat = json.loads(chart.spec)["data"][0]
    assert len(heat["x"]) == CLASSES and heat["y"][-2:] == ["class 28", "class 29"] and heat["z"][-2][-1] == 3
    assert "30" in run.caption[0].value
    assert re.findall(r"\d+", chart.alt) == ["150", "153"]


def test_entities_show_truth_beside_answer():
    words = ["Anna", "Berg", "saw", "Oslo"]
    example = {"words": words, "tags": ["B-PER", "I-PER", "O", "B-LOC"], "text": None, "offsets": None, "extra": {}}
    said = {"words": words, "tags": ["B-PER", "O", "B-LOC", "O"], "entities": [], "grade": 0.25}
    evaluation = {"labels": [], "by_type": {}, "measured_on": 1, "predictions": [said]}
    shown = html_of(opened(show_review, TASKS["tagging"], [example], evaluation, "review"))
    assert "Anna Berg<small>PER</small>" in shown
    assert all(f"{word}<small>{kind} ✗" in shown for word, kind in (("Anna", "PER"), ("Oslo", "LOC"), ("saw", "LOC")))


@every_task
def test_a_form_gives_what_the_task_takes(name):
    task, example = TASKS[name], untrained(name)[1].examples[0]
    run = opened(form, name, untrained(name)[1].examples[:2])
    given = task.example(run.session_state["got"])
    for field in ("text", "pair", "context", "question", "choices"):
        assert getattr(example, field, None) in (None, getattr(given, field, None))
    if name == "tagging":
        assert "".join(given.words) == "".join(example.words)
    assert not run.query_params
    run.number_input[0].set_value(1).run()  # another example fills the fields anew
    assert task.example(run.session_state["got"]) != given
    field = [*run.text_input, *run.text_area][0]
    field.set_value(EVIL).run()
    assert run.query_params[field.key] == EVIL and EVIL in json.dumps(run.session_state["got"])
    [*run.text_input, *run.text_area][0].set_value(" ").run()
    assert run.session_state["got"] is None and run.caption


def test_a_link_brings_the_fields_of_a_form():
    examples = untrained("pair")[1].examples[:2]
    run = opened(form, "pair", examples, **{"own-pair": "from the link"})
    assert run.session_state["got"] == {"text": examples[0].text, "pair": "from the link"}


def test_choices_can_be_added_and_removed():
    run = opened(form, "choice", untrained("choice")[1].examples[:1])
    run.button[0].click().run()
    assert run.session_state["got"] is None and run.query_params["own-count"] == "5"
    run.text_input(key="own-choice5").set_value("a fifth").run()
    assert run.session_state["got"]["choices"][-1] == "a fifth"
    for _ in range(3):
        run.button[1].click().run()
    assert len(run.session_state["got"]["choices"]) == 2 and run.button[1].disabled


def test_an_answer_that_failed_says_why():
    run = opened(show_answer, TASKS["span"], {}, {"input": {}, "error": f"no room {EVIL}"}, "k")
    assert "no room" in run.warning[0].value and "<img" not in run.warning[0].value
    assert headline(TASKS["span"], {"error": "no room"}) == ("no room", None)


def test_no_answer_shows_the_span_it_was_weighed_against():
    given = {"question": "Who?", "context": "Anna saw Oslo."}
    listed = [
        {"answer": "", "start": None, "end": None, "probability": 0.8},
        {"answer": "Anna", "start": 0, "end": 4, "probability": 0.2},
    ]
    answer = {
        "question": "Who?",
        **listed[0],
        "n_best": listed,
        "offsets": [[0, 4], [5, 8], [9, 13], [13, 14]],
        "start_probabilities": [0.3, 0.1, 0.1, 0.1],
        "end_probabilities": [0.2, 0.1, 0.1, 0.1],
        "null_difference": 1.386,
        "null_threshold": -0.5,
        "best_answer": "Anna",
        "null_probabilities": [0.4, 0.5],
    }
    run = opened(show_answer, TASKS["span-or-none"], given, answer, "k")
    assert re.search(r"Anna<small>[^<]*30\.0%[^<]*20\.0%</small>", html_of(run))
    assert "+1.39" in text_of(run) and "−0.50" in text_of(run)
    ends = json.loads(run.get("plotly_chart")[0].proto.spec)["data"]
    assert ends[0]["y"][0] == 0.4 and ends[1]["y"][0] == 0.5 and ends[0]["customdata"][0] == "[CLS]"
    assert headline(TASKS["span-or-none"], answer) == ("no answer", 0.8)


def test_chinese_entities_are_drawn_in_the_text():
    task = TASKS["tagging"]
    example = task.example("平安去了大理。")
    answer = {"text": example.text, "words": list(example.words), "probabilities": [0.9] * 7}
    answer |= {"tags": ["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O"]}
    answer["entities"] = [
        {"type": "PER", "start": 0, "end": 2, "text": "平安", "offsets": [0, 2]},
        {"type": "LOC", "start": 4, "end": 6, "text": "大理", "offsets": [4, 6]},
    ]
    drawn = html_of(opened(show_answer, task, example.text, answer, "k"))
    assert "平安<small>PER</small></mark>去了" in drawn and "大理<small>LOC</small></mark>。" in drawn
    assert headline(task, answer) == ("平安 (PER), 大理 (LOC)", 0.9)


LONG = SpanExample("", "who", "word " * 60 + "Anna " + "word " * 60, (Answer("Anna", 300),))


def built(example, options, task="span", labels=("start", "end")):
    tokenizer = untrained(task)[0].tokenizer
    return opened(show_input, TASKS[task], tokenizer, example, labels, options, "k")


def test_a_long_input_folds_about_what_is_asked_and_opens():
    run = built(LONG, Options(max_length=512))
    assert html_of(run).count("<li ") < 60 and "mb-asked" in html_of(run) and "…" in html_of(run)
    run.toggle[0].set_value(True).run()
    assert html_of(run).count("<li ") == 126


def test_windows_beyond_the_first_fold_but_not_those_with_the_answer():
    run = built(LONG, Options(max_length=24, doc_stride=12))
    assert run.expander and '<small class="mb-asked">S E</small>' in html_of(run)
    assert built(SpanExample("", "who is it", "Anna", None), Options(max_length=5)).warning  # without room
    words = TASKS["tagging"].example("a b c d e f g h")
    tagged = built(words, Options(max_length=8, doc_stride=3), "tagging", ("O", "B-X", "I-X"))
    for page, told in ((run, "passage tokens"), (tagged, "predicted for words")):
        titles = [plain(block.value) for block in page.markdown if "Window" in block.value]
        assert len(titles) > 1 and all(told in title for title in titles[:2])


def test_what_was_meant_and_said_may_overlap_and_no_two_types_of_entity_share_a_colour():
    marks = between("abcdefgh", (1, 4), (3, 6), ("truth", "answer", "both"))
    assert [(m.start, m.end, m.label) for m in marks] == [(1, 3, "truth"), (3, 4, "both"), (4, 6, "answer")]
    assert between("abc", None, None, ("t", "a", "b")) == []
    assert len(set(hues(["PER", "LOC", "ORG", "MISC", "time", "day", "title"]).values())) == 7
    assert hues(["PER", "LOC"])["PER"] == hues(["PER", "x", "y"])["PER"]
    assert len(hues(str(i) for i in range(20))) == 20


def test_an_excerpt_holds_its_places_and_whole_words():
    text = "begin " * 50 + "here" + " after" * 50
    part, start = excerpt(text, [(300, 304)])
    assert text[start : start + len(part)] == part and "here" in part and len(part) < 300
    assert part.startswith("begin") and part.endswith("after")
    assert excerpt("short", []) == ("short", 0)


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.text(max_size=5))))
def test_marks_never_break_the_text(text, places):
    marks = [Highlight(a, b, label, 0) for a, b, label in places if a < b <= len(text)]
    drawn = marked_html(text, marks)
    assert set(re.findall(r"</?([a-z]+)", drawn)) <= {"p", "mark", "small"}
    bare = html.unescape(re.sub(r"<small>.*?</small>|<[^>]*>", "", drawn))
    assert bare == visible(text, spaces=False)
