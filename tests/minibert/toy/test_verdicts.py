"""The reviews with a verdict: the shipped files are the recipe's, and what is cut off them is what they are for."""

import pytest

from minibert.folders import ROOT
from minibert.tasks import TASKS
from minibert.toy.verdicts import AROUND, COLUMNS, verdict_rows, write

FOLDER = ROOT / "lessons" / "data" / "verdicts"


def test_the_files_are_made_by_the_recipe(tmp_path):
    (tmp_path / "parts.toml").write_bytes((FOLDER / "parts.toml").read_bytes())
    write(tmp_path)
    for part in ("train.tsv", "dev.tsv"):
        assert (tmp_path / part).read_bytes() == (FOLDER / part).read_bytes()


@pytest.mark.parametrize("part", ["train", "dev"])
def test_a_verdict_stands_at_one_end_and_both_classes_are_as_many(part):
    data = TASKS["classification"].read(FOLDER / f"{part}.tsv")
    assert len(set(data.counts.values())) == 1
    last = sum(example.extra["place"] == "last" for example in data.examples)
    assert 0.6 < last / len(data.examples) < 0.8
    assert set(data.examples[0].extra) == set(COLUMNS[2:])


def test_nothing_of_the_dev_part_was_learned_and_the_rest_does_not_tell_the_class():
    """The same sentences stand around both kinds of verdict, about as often."""
    rows, dev = (verdict_rows(FOLDER / "parts.toml", part) for part in ("train", "dev"))
    learned, other = ({s.strip() for row in some for s in row[0].replace("!", ".").split(". ")} for some in (rows, dev))
    assert not learned & other
    length = {label: [row[0].count(".") for row in rows if row[1] == label] for label in ("positive", "negative")}
    means = [sum(counts) / len(counts) for counts in length.values()]
    assert AROUND[0] < min(means) and abs(means[0] - means[1]) < 1
