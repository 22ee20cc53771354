"""Our own dialogues: of the stated sizes, nothing said twice, and what the README says of words and lengths."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from minibert.tasks import TASKS

FOLDER = Path(__file__).resolve().parents[2] / "lessons" / "data" / "dialogues"
PARTS = ("train", "dev", "test")
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def dialogues(part: str) -> list[list[str]]:
    blocks = (FOLDER / f"{part}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return [[line.split(": ", 1)[1] for line in block.split("\n")] for block in blocks]


def examples(part: str) -> list:
    data = TASKS["next-utterance"].read(FOLDER / f"{part}.txt")
    assert not data.problems
    return data.examples


def longer_words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z']+", text.lower()) if len(word) >= 4}


@pytest.mark.parametrize("part", PARTS)
def test_the_readme_counts_them(part):
    turns = [turn for dialogue in dialogues(part) for turn in dialogue]
    words = sum(len(turn.split()) for turn in turns) / len(turns)
    assert f"| {part} | {len(dialogues(part))} | {len(turns)} | {len(examples(part))} | {words:.1f} |" in README
    assert all(4 <= len(dialogue) <= 6 for dialogue in dialogues(part))


def test_nothing_is_said_twice():
    turns = [turn.lower() for part in PARTS for dialogue in dialogues(part) for turn in dialogue]
    assert len(turns) == len(set(turns))
    assert sum(len(dialogues(part)) for part in PARTS) == 96


def test_chance_is_as_the_readme_says():
    assert "0.457" in README and sum(Fraction(1, rank) for rank in range(1, 6)) / 5 == pytest.approx(0.457, abs=5e-4)


def test_words_and_lengths_tell_as_little_as_the_readme_says():
    hits, longest, shortest = [], [], []
    for part in PARTS:
        found, shares = examples(part), []
        for example in found:
            said = longer_words(" ".join(example.turns))
            common = [len(said & longer_words(choice)) for choice in example.choices]
            best = [i for i, count in enumerate(common) if count == max(common)]
            shares.append((example.label in best) / len(best))
        hits.append(f"{sum(shares) / len(found):.0%}")
        lengths = [([len(choice) for choice in example.choices], example.label) for example in found]
        longest.append(f"{sum(sizes.index(max(sizes)) == label for sizes, label in lengths) / len(found):.0%}")
        shortest.append(f"{sum(sizes.index(min(sizes)) == label for sizes, label in lengths) / len(found):.0%}")
    words = " ".join(README.split()).replace(" %", "%")
    assert "R@1 {} in train, {} in dev, {} in test".format(*hits) in words
    assert "longest of its five in {}, {} and {}; the shortest in {}, {} and {}".format(*longest, *shortest) in words
