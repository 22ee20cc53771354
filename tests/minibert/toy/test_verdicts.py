"""The reviews with a verdict: the shipped files are the recipe's, and what is cut off them is what they are for."""

from pathlib import Path

import pytest

from minibert.tasks import TASKS
from minibert.toy.verdicts import AROUND, COLUMNS, verdict_rows, write

FOLDER = Path(__file__).resolve().parents[3] / "lessons" / "data" / "verdicts"


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


def test_nothing_of_the_dev_part_was_learned():
    def sentences(part: str) -> set[str]:
        rows = (row[0] for row in verdict_rows(FOLDER / "parts.toml", part))
        return {one.strip() for row in rows for one in row.replace("!", ".").split(". ")}

    assert not sentences("train") & sentences("dev")


def test_the_rest_does_not_tell_the_class():
    """The same sentences stand around both kinds of verdict, about as often."""
    rows = verdict_rows(FOLDER / "parts.toml", "train")
    length = {label: [row[0].count(".") for row in rows if row[1] == label] for label in ("positive", "negative")}
    means = [sum(counts) / len(counts) for counts in length.values()]
    assert AROUND[0] < min(means) and abs(means[0] - means[1]) < 1
