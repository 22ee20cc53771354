"""Our own dialogues: of the stated sizes, nothing said twice, and what the README says of words and lengths."""

from fractions import Fraction

import pytest

from minibert.tasks import TASKS
from tests.lessons.data_files import DATA, guessed, longer, readme, row_of, text

PARTS = ("train", "dev", "test")
README = readme("dialogues")


def dialogues(part: str) -> list[list[str]]:
    blocks = text(f"dialogues/{part}.txt").strip().split("\n\n")
    return [[line.split(": ", 1)[1] for line in block.split("\n")] for block in blocks]


def examples(part: str) -> list:
    return TASKS["next-utterance"].read(DATA / "dialogues" / f"{part}.txt", strict=True).examples


def test_the_readme_counts_them_and_nothing_is_said_twice():
    said = []
    for part in PARTS:
        turns = [turn for dialogue in dialogues(part) for turn in dialogue]
        words = f"{sum(len(turn.split()) for turn in turns) / len(turns):.1f}"
        assert row_of(part, len(dialogues(part)), len(turns), len(examples(part)), words) in README
        assert all(4 <= len(dialogue) <= 6 for dialogue in dialogues(part))
        said += [turn.lower() for turn in turns]
    assert len(said) == len(set(said)) and sum(len(dialogues(part)) for part in PARTS) == 96
    assert "0.457" in README and sum(Fraction(1, rank) for rank in range(1, 6)) / 5 == pytest.approx(0.457, abs=5e-4)


def test_words_and_lengths_tell_as_little_as_the_readme_says():
    hits, longest, shortest = [], [], []
    for found in map(examples, PARTS):
        said = [longer(" ".join(example.turns)) for example in found]
        common = [[len(words & longer(one)) for one in e.choices] for words, e in zip(said, found, strict=True)]
        hits.append(f"{guessed(zip(common, (example.label for example in found), strict=True)):.0%}")
        lengths = [([len(choice) for choice in example.choices], example.label) for example in found]
        longest.append(f"{sum(sizes.index(max(sizes)) == label for sizes, label in lengths) / len(found):.0%}")
        shortest.append(f"{sum(sizes.index(min(sizes)) == label for sizes, label in lengths) / len(found):.0%}")
    words = " ".join(README.split()).replace(" %", "%")
    assert "R@1 {} in train, {} in dev, {} in test".format(*hits) in words
    assert "longest of its five in {}, {} and {}; the shortest in {}, {} and {}".format(*longest, *shortest) in words
