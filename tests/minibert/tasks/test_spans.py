"""Spans: SQuAD's files by path, windows, the best span, probabilities, thresholds, the official scores."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minibert.tasks import TASKS, Options, TaskDataError
from minibert.tasks.span_scores import cmrc_scores, outcome, score_answer, squad_scores
from minibert.tasks.spans import Answer, SpanExample, best_spans, passage_windows, token_span
from minibert.tasks.spans_or_none import best_null_threshold

TASK, OR_NONE = TASKS["span"], TASKS["span-or-none"]
PARAGRAPH = "data[0].paragraphs[0]"


def squad(*qas, context="The cat sat on the mat.") -> bytes:
    return json.dumps({"data": [{"title": "t", "paragraphs": [{"context": context, "qas": list(qas)}]}]}).encode()


def question(number: int, *answers, **more) -> dict:
    answers = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": f"q{number}", "question": "Where?", "answers": answers, **more}


def test_squad_and_answers_that_do_not_stand_where_they_should():
    wrong = [question(1, ("cat", 5), ("cat", 4)), question(2, ("dog", 4))]
    data = TASK.parse(squad(question(0, ("the mat", 15)), *wrong), "d.json")
    assert [e.place for e in data.examples] == [(15, 22), (4, 7), None]
    assert data.examples[1].answers == (Answer("cat", None), Answer("cat", 4))
    assert [p.column for p in data.problems] == [f"{PARAGRAPH}.qas[{n}].answers[0]" for n in (1, 2)]
    assert data.problems[1].why.startswith("the answer 'dog' does not stand at 4, where the context has 'cat'")
    with pytest.raises(TaskDataError, match=r"d.json, data\[0\].paragraphs\[0\].qas\[0\].answers\[0\]: the answer"):
        TASK.parse(squad(wrong[0]), "d.json", strict=True)


def test_questions_without_an_answer():
    content = squad(question(0, ("cat", 4)), question(1, is_impossible=True), question(2))
    with_none, data = OR_NONE.parse(content, "d.json"), TASK.parse(content, "d.json")
    assert [len(e.answers) for e in with_none.examples] == [1, 0, 0]
    assert with_none.counts == {"answer": 1, "no answer": 2}
    assert len(data.examples) == 1 and [p.column for p in data.problems] == [f"{PARAGRAPH}.qas[{n}]" for n in (1, 2)]


def test_bad_records_are_named_by_their_path():
    for questions, place, why in (
        ([{"question": "x"}], ".qas[0]", 'there is no list "answers"'),
        ([{"id": 1}], ".qas[0]", "there is no question"),
        ([question(0, ("cat", "4"), ("cat", 4))], ".qas[0].answers[0]", "an answer needs a text and a whole number"),
        ([question(1, ("cat", 4))], ".qas[1]", "the id 'q1' has occurred before"),
    ):
        content = squad(*questions, question(1, ("cat", 4)))
        problem = TASK.parse(content, "d.json").problems[0]
        assert (problem.line, problem.column) == (None, PARAGRAPH + place) and problem.why.startswith(why)


def test_what_is_no_squad_is_refused():
    with pytest.raises(TaskDataError, match=r'no usable line; data\[0\]: there is no list "paragraphs"'):
        TASK.parse(b'{"data": [{"paragraphs": 5}, 3]}', "d.json")
    with pytest.raises(TaskDataError, match=r"d.json, line 2: not JSON: "):
        TASK.parse(b'{"data":\n oops}', "d.json")


def test_a_long_passage_makes_windows_and_the_answer_stands_in_those_that_hold_it(letters):
    context = "a b c d e f g h i j k l"
    example = SpanExample("1", "q r", context, (Answer("f g", context.index("f")),))
    options = Options(max_length=11, doc_stride=3)
    rows = TASK.features(letters, [example], None, options)
    assert letters.decode(rows[0].ids) == "[CLS] q r [SEP] a b c d e f [SEP]"
    assert rows[0].segments == [0] * 4 + [1] * 7
    # Cut off in the first, whole in the second, gone in the third.
    assert [row.target for row in rows] == [[0, 0], [6, 7], [0, 0]]
    assert letters.decode(rows[1].ids[6:8]) == "f g"
    assert sum(sum(row.owned) for row in rows) == 12  # each token belongs to one window
    unusable, none = SpanExample("2", "q", context, (Answer("z", None),)), SpanExample("3", "q", context, ())
    assert {row.target is None for row in TASK.features(letters, [unusable], None, options)} == {True}
    assert {tuple(row.target) for row in OR_NONE.features(letters, [none], None, options)} == {(0, 0)}


@given(st.integers(0, 80), st.integers(1, 20), st.integers(1, 20))
def test_windows_cover_the_passage(tokens, room, stride):
    windows = passage_windows(tokens, room, min(stride, room))
    assert {t for a, b in windows for t in range(a, b)} == set(range(tokens))
    assert all(b - a <= room for a, b in windows)


def test_tokens_of_an_answer_that_begins_inside_a_word():
    assert token_span([(0, 3), (4, 8), (8, 9)], (5, 8)) == (1, 1)
    assert token_span([(0, 3), (4, 8), (8, 9)], (2, 9)) == (0, 2)
    assert token_span([(0, 3)], (3, 4)) is None and token_span([(0, 3)], None) is None


@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 8), st.integers(0, 99))
def test_the_best_spans_are_those_of_a_search_through_all(tokens, longest, count, seed):
    rng = np.random.default_rng(seed)
    logits, owned = rng.normal(size=(tokens, 2)), rng.random(tokens) < 0.7
    spans = [(s, e) for s in range(tokens) if owned[s] for e in range(s, min(tokens, s + longest))]
    every = sorted(spans, key=lambda span: -(logits[span[0], 0] + logits[span[1], 1]))
    found = best_spans(logits, owned, longest, count)
    assert [span for span, _ in found] == every[:count]


def decoded(task, letters, example, peak, options, null=0.0):
    """The prediction when S and E are `peak` at the answer's tokens wherever they are seen."""
    rows = task.features(letters, [example], None, options)
    outputs = []
    for row in rows:
        logits = np.zeros((row.length, 2), dtype=np.float32)
        logits[0] = null
        for token, (start, _) in enumerate(row.offsets):
            if (letter := example.context[start]) in "fg":
                logits[row.first + token, "fg".index(letter)] = peak
        outputs.append({"logits": logits})
    return task.decode(outputs, rows, [example], None, options)[0]


def test_the_answer_over_windows_with_the_probability_of_every_token(letters):
    example = SpanExample("1", "q r", "a b c d e f g h i j k l", None)
    answer = decoded(TASK, letters, example, 6.0, Options(max_length=11, doc_stride=3))
    assert (answer["answer"], answer["start"], answer["end"]) == ("f g", 10, 13)
    assert len(answer["n_best"]) == 5 and answer["n_best"][0]["answer"] == "f g"
    assert sum(one["probability"] for one in answer["n_best"]) == pytest.approx(1)
    assert answer["offsets"] == [[i, i + 1] for i in range(0, 23, 2)]
    e = np.exp(6.0)
    assert answer["start_probabilities"][5] == pytest.approx(e / (e + 11))  # softmax over the 12 passage tokens
    assert answer["end_probabilities"][6] == pytest.approx(e / (e + 11))
    short = decoded(TASK, letters, example, 6.0, Options(max_length=11, doc_stride=3, max_answer=1))
    assert short["answer"] in ("f", "g")


def test_no_answer_when_the_null_span_leads_by_more_than_the_threshold(letters):
    example = SpanExample("1", "q", "a f g", None)

    def said(null: float, **options) -> dict:
        return decoded(OR_NONE, letters, example, 3.0, Options(max_length=16, **options), null)

    assert said(2.0)["answer"] == "f g"
    silent, bold = said(3.5), said(3.5, null_threshold=1.5)
    assert silent["answer"] == "" and silent["start"] is None and silent["best_answer"] == "f g"
    assert silent["null_difference"] == pytest.approx(1.0) and silent["null_threshold"] == 0.0
    probs = silent["start_probabilities"] + silent["null_probabilities"][:1]
    assert sum(probs) == pytest.approx(1)
    assert bold["answer"] == "f g" and bold["null_threshold"] == 1.5


def test_how_an_answer_compares():
    for answers, said, kind in (
        (["the mat"], "mat", "exact"),  # as the official script compares
        (["the mat", "a red mat"], "red mat", "exact"),
        (["the red mat"], "mat", "overlap"),
        (["the mat"], "cat", "wrong"),
        (["the mat"], "", "missed"),
        ([], "", "silent"),
        ([], "cat", "invented"),
    ):
        example = SpanExample("1", "q", "The cat sat on the red mat.", tuple(Answer(text, None) for text in answers))
        assert outcome(said, example) == kind


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_the_threshold_is_the_best_of_all(rows):
    examples = [SpanExample("", "q", "c", (Answer("x", 0),) if has else ()) for _, has, _ in rows]
    predictions = [{"null_difference": float(d), "best_answer": "x" if right else "y"} for d, _, right in rows]

    def f1(threshold):
        said = ["" if p["null_difference"] > threshold else p["best_answer"] for p in predictions]
        return np.mean([score_answer(answer, e)[1] for answer, e in zip(said, examples, strict=True)])

    best, threshold = best_null_threshold(predictions, examples)
    assert best == pytest.approx(f1(threshold)) == pytest.approx(max(f1(t) for t in np.arange(-5, 5, 0.5)))


def test_the_scores_of_an_answer():
    for scores, answer, truth, exact, f1 in (
        (squad_scores, "The Cat!", "cat", 1, 1),
        (squad_scores, "a an the", "the", 1, 1),
        (squad_scores, "the black cat", "cat", 0, 2 / 3),
        (squad_scores, "cat cat", "cat", 0, 2 / 3),
        (squad_scores, "Denver Broncos", "Carolina Panthers", 0, 0),
        (squad_scores, "", "cat", 0, 0),
        (squad_scores, "U.S.", "US", 1, 1),
        (cmrc_scores, "光荣和ω-force", "光荣和ω-force", 1, 1),
        (cmrc_scores, "光荣，和ω-force。", "光荣和ω-force", 1, 1),
        (cmrc_scores, "光荣", "光荣和ω-force", 0, 2 * 2 / (2 + 4)),  # 光 荣 · 光 荣 和 ωforce
        (cmrc_scores, "1963年", "1963年3月", 0, 2 * 2 / (2 + 4)),
        (cmrc_scores, "北上京海", "北京上海", 0, 2 * 1 / 8),  # the longest run counts, not the subsequence
        (cmrc_scores, "大", "小", 0, 0),
        (cmrc_scores, "", "小", 0, 0),
    ):
        assert scores(answer, truth) == (exact, pytest.approx(f1))


def test_the_best_reference_counts_and_the_language_chooses_the_script():
    english = SpanExample("", "q", "The cat sat.", (Answer("cat", 4), Answer("The cat sat", 0)))
    assert score_answer("cat sat", english) == (1.0, 1.0)
    chinese = SpanExample("", "q", "我在北京大学。", (Answer("北京大学", 2),))
    assert score_answer("北京", chinese) == (0.0, pytest.approx(2 * 2 / 6))
    assert score_answer("", SpanExample("", "q", "c", ())) == (1.0, 1.0)


def test_metrics_tell_questions_with_and_without_an_answer_apart():
    examples = [SpanExample("", "q", "x y", (Answer("x", 0),)), SpanExample("", "q", "x y", ())]
    said = (("x", -1.0), ("y", -0.5))
    predictions = [{"answer": answer, "best_answer": answer, "null_difference": null} for answer, null in said]
    scores = OR_NONE.score(predictions, examples)
    assert scores["f1"] == 0.5 and scores["has_answer_f1"] == 1.0 and scores["no_answer_accuracy"] == 0.0
    assert scores["best_f1"] == 1.0 and OR_NONE.tune(predictions, examples, None) == {"null_threshold": -0.75}
