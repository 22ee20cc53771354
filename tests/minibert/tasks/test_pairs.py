"""Pairs: GLUE's headers, unquoted text, columns without a header."""

import pytest

from minibert.tasks import TASKS, Options, Problem, TaskDataError
from minibert.tasks.pairs import PairExample

TASK = TASKS["pair"]


def parse(text: str, name: str = "pairs.tsv", **options):
    return TASK.parse(text.encode(), name, **options)


@pytest.mark.parametrize(
    "text",
    [
        'index\tsentence1\tsentence2\tlabel\n0\tHe said "no\tShe left.\tyes\n1\tA.\tB.\tno\n',
        '\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\nyes\t7\t8\tHe said "no\tShe left.\nno\t1\t2\tA.\tB.\n',
        'gold_label\tsentence1\tsentence2\theuristic\nyes\tHe said "no\tShe left.\tx\nno\tA.\tB.\ty\n',
        'He said "no\tShe left.\tyes\nA.\tB.\tno\nC\tD\tno\n',
        'yes\tHe said "no\tShe left.\nno\tA.\tB.\nno\tC\tD\n',
    ],
)
def test_every_form_reads_alike(text):
    data = parse(text)
    read = [(e.text, e.pair, e.label) for e in data.examples[:2]]
    assert read == [('He said "no', "She left.", "yes"), ("A.", "B.", "no")]
    assert data.labels == ["no", "yes"] and not data.problems


@pytest.mark.parametrize(("format", "row"), [("label-last", "{0},{1},{2}\n"), ("label-first", "{2},{0},{1}\n")])
def test_a_header_of_unknown_names_is_no_example(format, row):
    rows = [("first", "second", "verdict"), *[(f"a{i}", f"b{i}", "yn"[i % 2]) for i in range(6)]]
    text = "".join(row.format(*cells) for cells in rows)
    with pytest.raises(TaskDataError, match=r"say which is which \(--columns\)"):
        parse(text, "a.csv")  # whether the label is its first or its last is not guessed
    data = parse(text, "a.csv", format=format)
    assert data.labels == ["n", "y"] and len(data.examples) == 6
    assert [problem.line for problem in data.problems] == [1] and "taken for a header" in data.problems[0].why


def test_bad_lines_are_named():
    text = "sentence1\tsentence2\tlabel\na\tb\t0\na\t\t1\na\tb\nc\td\t1\te\nf\tg\t1\n"
    assert parse(text).problems == [
        Problem(3, 2, "the second text is empty"),
        Problem(4, 3, "2 columns where 3 are expected"),
        Problem(5, 4, "4 columns where 3 are expected"),
    ]
    with pytest.raises(TaskDataError, match=r"pairs.tsv, line 3, column 2: the second text is empty"):
        parse(text, strict=True)
    with pytest.raises(TaskDataError, match="the header has no second text column"):
        parse("sentence1\tlabel\na\t0\n")


@pytest.mark.parametrize(
    ("options", "expected", "first"),
    [
        ({}, "[CLS] abc [SEP] xy [SEP]", 5),
        ({"truncation": "head"}, "[CLS] abcde [SEP] [SEP]", 7),
        ({"truncation": "tail"}, "[CLS] def [SEP] xy [SEP]", 5),
        ({"truncation": "budget", "budgets": (1, 2)}, "[CLS] a [SEP] xy [SEP]", 3),
    ],
)
def test_input_is_two_segments_cut_as_is_chosen(letters, options, expected, first):
    row = TASK.features(letters, [PairExample("abcdef", "xy")], ["0", "1"], Options(max_length=8, **options))[0]
    assert "".join(letters.vocab[i] for i in row.ids).replace("##", "") == expected.replace(" ", "")
    assert row.segments == [0] * first + [1] * (len(row.ids) - first) and row.target is None


def test_f1_is_of_the_ones():
    examples = [PairExample("a", "b", label) for label in "110100"]
    answers = [{"label": label, "probabilities": {"0": 0.5, "1": 0.5}} for label in "100110"]
    scores = TASK.score(answers, examples)
    assert scores["accuracy"] == pytest.approx(4 / 6)
    assert scores["f1"] == pytest.approx(2 * 2 / (3 + 3))
