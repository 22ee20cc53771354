"""Similarity: STS-B with and without its header, and correlations."""

import pytest
from scipy.stats import pearsonr, spearmanr

from minibert.tasks import TASKS, Problem, TaskDataError
from minibert.tasks.similarity import ScoredPair

TASK = TASKS["similarity"]
HEADER = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"


def test_both_forms_of_stsb_read_alike():
    header = TASK.parse((HEADER + "0\tg\tf\ty\t0\tn\tn\tA man.\tA boy.\t3.800\n").encode(), "train.tsv")
    # Some lines of sts-test.tsv have two further columns.
    bare = TASK.parse(b"g\tf\ty\t0\t3.800\tA man.\tA boy.\ng\tf\ty\t0\t1\tA.\tB.\tone\ttwo\n", "sts-test.tsv")
    three = TASK.parse(b"A man.\tA boy.\t3.8\n", "own.tsv")
    for data in (header, bare, three):
        assert (data.examples[0].text, data.examples[0].pair, data.examples[0].score) == ("A man.", "A boy.", 3.8)
        assert not data.problems and data.labels == [] and data.imbalance is None
    assert bare.examples[1].score == 1.0


@pytest.mark.parametrize("score", ["5.1", "-1", "nan", "inf", "high"])
def test_a_score_that_is_none_is_named(score):
    text = (HEADER + f"0\tg\tf\ty\t0\tn\tn\tA\tB\t{score}\n1\tg\tf\ty\t0\tn\tn\tA\tB\t2\n").encode()
    data = TASK.parse(text, "x.tsv")
    assert data.problems == [Problem(2, 10, f"the score is '{score}', not a number from 0 to 5")]
    assert len(data.examples) == 1
    with pytest.raises(TaskDataError, match=r"x.tsv, line 2, column 10"):
        TASK.parse(text, "x.tsv", strict=True)


def test_metrics_are_scipys():
    truth, answers = [0.0, 1.0, 2.5, 5.0], [0.3, 0.1, 3.0, 4.0]
    examples = [ScoredPair("a", "b", score) for score in truth]
    scores = TASK.score([{"score": score} for score in answers], examples)
    assert scores["pearson"] == pytest.approx(pearsonr(truth, answers).statistic)
    assert scores["spearman"] == pytest.approx(spearmanr(truth, answers).statistic)
    assert scores["mean_squared_error"] == pytest.approx((0.09 + 0.81 + 0.25 + 1) / 4)
    constant = TASK.score([{"score": 1.0}] * 4, examples)
    assert constant["pearson"] == 0.0
