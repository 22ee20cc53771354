"""Pairs: GLUE's headers, unquoted text, columns without a header; and with a score, as STS-B has them."""

import pytest
from scipy.stats import pearsonr, spearmanr

from minibert.tasks import TASKS, Options, Problem, TaskDataError
from minibert.tasks.pairs import PairExample
from minibert.tasks.similarity import ScoredPair

TASK, SIMILARITY = TASKS["pair"], TASKS["similarity"]
STSB = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"


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


def test_both_forms_of_stsb_read_alike():
    header = SIMILARITY.parse((STSB + "0\tg\tf\ty\t0\tn\tn\tA man.\tA boy.\t3.800\n").encode(), "train.tsv")
    # Some lines of sts-test.tsv have two further columns.
    bare = SIMILARITY.parse(b"g\tf\ty\t0\t3.800\tA man.\tA boy.\ng\tf\ty\t0\t1\tA.\tB.\tone\ttwo\n", "sts-test.tsv")
    three = SIMILARITY.parse(b"A man.\tA boy.\t3.8\n", "own.tsv")
    for data in (header, bare, three):
        assert (data.examples[0].text, data.examples[0].pair, data.examples[0].score) == ("A man.", "A boy.", 3.8)
        assert not data.problems and data.labels == [] and data.imbalance is None
    assert bare.examples[1].score == 1.0


@pytest.mark.parametrize("score", ["5.1", "-1", "nan", "inf", "high"])
def test_a_score_that_is_none_is_named(score):
    text = (STSB + f"0\tg\tf\ty\t0\tn\tn\tA\tB\t{score}\n1\tg\tf\ty\t0\tn\tn\tA\tB\t2\n").encode()
    data = SIMILARITY.parse(text, "x.tsv")
    assert data.problems == [Problem(2, 10, f"the score is '{score}', not a number from 0 to 5")]
    assert len(data.examples) == 1
    with pytest.raises(TaskDataError, match=r"x.tsv, line 2, column 10"):
        SIMILARITY.parse(text, "x.tsv", strict=True)


def test_metrics_of_similarity_are_scipys():
    truth, answers = [0.0, 1.0, 2.5, 5.0], [0.3, 0.1, 3.0, 4.0]
    examples = [ScoredPair("a", "b", score) for score in truth]
    scores = SIMILARITY.score([{"score": score} for score in answers], examples)
    assert scores["pearson"] == pytest.approx(pearsonr(truth, answers).statistic)
    assert scores["spearman"] == pytest.approx(spearmanr(truth, answers).statistic)
    assert scores["mean_squared_error"] == pytest.approx((0.09 + 0.81 + 0.25 + 1) / 4)
    constant = SIMILARITY.score([{"score": 1.0}] * 4, examples)
    assert constant["pearson"] == 0.0
