"""Pairs of inference: what follows is a positive, what speaks against it a hard negative; files are checked."""

import pytest

from minibert.sentence_vectors.inference import inference_triples, is_inference_file
from minibert.sentence_vectors.rows import read_rows
from minibert.tasks.pairs import PairExample
from tests.shipped import DATA


def test_what_follows_is_a_positive_and_what_does_not_a_negative():
    def found(rows: str) -> list:
        return inference_triples([PairExample(*row.split()) for row in rows.split(",")])

    # A contradiction comes before what does not follow, and neutral is left out.
    rows = "a n neutral, a x not_entailment, a e entailment, a c contradiction, b f entailment, d g contradiction"
    assert found(rows) == [("a", "e", "c"), ("b", "f")]
    # Hypotheses of a premise take its negatives in turn.
    rows = "a e entailment, a f entailment, a e entailment, a x non-entailment, a y non-entailment"
    assert found(rows) == [("a", "e", "x"), ("a", "f", "y")]


def test_our_own_pairs_give_a_whole_triple_a_premise():
    rows = read_rows("simcse-supervised", DATA / "pairs" / "train.tsv")
    assert len(rows) == 121 and all(len(row.texts) == 3 for row in rows)
    classes = {row.target for row in read_rows("softmax", DATA / "pairs" / "train.tsv")}
    assert classes == {"entailment", "neutral", "contradiction"}


def test_two_labels_and_texts_without_any(tmp_path):
    rte, hans, triples = (tmp_path / name for name in ("rte.tsv", "hans.tsv", "triples.tsv"))
    rte.write_text("index\tsentence1\tsentence2\tlabel\n0\ta\tb\tentailment\n1\ta\tc\tnot_entailment\n")
    hans.write_text("gold_label\tsentence1\tsentence2\tcase\nentailment\ta\tb\tx\nnon-entailment\td\tc\tx\n")
    triples.write_text("a\tb\td\nc\td\n")
    found = [[row.texts for row in read_rows("simcse-supervised", file)] for file in (rte, hans, triples)]
    assert found == [[("a", "b", "c")], [("a", "b")], [("a", "b", "d"), ("c", "d")]]
    assert is_inference_file("a\tb\tentailment") and not is_inference_file("a\tb\tc")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sentence1\tsentence2\tlabel\na\tb\tentailment\na\tc\tperhaps\n", r"line 3, column 3"),
        ("sentence1\tsentence2\tlabel\na\tb\tentailment\na\tc\n", r"line 3"),
        ("sentence1\tsentence2\tlabel\na\tb\tneutral\n", "entailment"),
        ("a\tb\tentailment\nc\td\tneutral\ne\tf\tneutral\na\t\tneutral\n", r"line 4, column 2"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_place(tmp_path, text, why):
    (tmp_path / "x.tsv").write_text(text)
    with pytest.raises(ValueError, match=why):
        read_rows("simcse-supervised", tmp_path / "x.tsv")
