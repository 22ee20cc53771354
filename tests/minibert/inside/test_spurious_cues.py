"""Planted cues: nothing but the cue differs, and counting finds it."""

from collections import Counter
from types import SimpleNamespace

import pytest

from minibert.folders import ROOT
from minibert.inside.predictions import spurious_cues
from minibert.inside.predictions.spurious_cues import (
    CONDITIONS,
    DEEDS,
    FOLLOWS,
    NOT_FOLLOWS,
    PEOPLE,
    overlap_pairs,
    tokens_of,
)
from minibert.tasks import TASKS, TaskData
from minibert.tasks.choices import ChoiceExample
from minibert.tasks.classification import Example
from minibert.tasks.pairs import PairExample

DATA = TaskData([Example(f"text {i}", "bad" if i % 2 else "good", {"kind": "plain"}) for i in range(40)])


def counts(examples) -> Counter:
    return Counter((example.label, example.extra["cue"]) for example in examples)


def expected_counts(condition: str, one: str, other: str, each: int) -> dict:
    """The cue goes with the label, or lies, or says nothing."""
    return {
        "planted": {(one, "yes"): each, (other, "no"): each},
        "flipped": {(one, "no"): each, (other, "yes"): each},
        "balanced": {(label, cue): each // 2 for label in (one, other) for cue in ("yes", "no")},
    }[condition]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_aside_leaves_text_label_and_columns_alone(condition):
    cued = spurious_cues.with_aside(DATA, condition, seed=3)
    for before, after in zip(DATA.examples, cued.examples, strict=True):
        assert after.text == f"{after.extra['aside']} {before.text}"
        assert after.label == before.label and after.extra["kind"] == "plain"
        assert (after.extra["cue"] == "yes") == ("not" in tokens_of(after.extra["aside"]))
    assert spurious_cues.with_aside(DATA, condition, seed=3) == cued
    assert counts(cued.examples) == expected_counts(condition, "good", "bad", 20)


def test_the_asides_differ_by_the_cue_alone_and_what_cannot_be_planted_is_refused():
    for cue, none in spurious_cues.ASIDES:
        assert "not" in tokens_of(cue) and "not" not in tokens_of(none)
        assert cue.count(".") == none.count(".") == 1
    for make in (lambda: spurious_cues.with_aside(DATA, "hidden"), lambda: overlap_pairs(4, "hidden")):
        with pytest.raises(ValueError, match="one of planted"):
            make()
    with pytest.raises(ValueError, match="there are 3"):
        spurious_cues.with_aside(TaskData([Example("a", str(i)) for i in range(3)]), "planted")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_words_in_common_are_where_they_should_be(condition):
    """And the labels are true, by a reading of who did what to whom: words that mean the same are one."""
    meaning = {word: same[0] for same in (*PEOPLE, *DEEDS) for word in same}
    assert len(meaning) == sum(map(len, (*PEOPLE, *DEEDS)))  # no word stands for two things

    def read(sentence):
        return [meaning[word] for word in sentence.rstrip(".").split() if word in meaning]

    pairs = overlap_pairs(80, condition, seed=5).examples
    for pair in pairs:
        common = tokens_of(pair.pair) <= tokens_of(pair.text)
        assert common == (pair.extra["cue"] == "yes")
        assert (read(pair.text) == read(pair.pair)) == (pair.label == FOLLOWS)
    assert counts(pairs) == expected_counts(condition, FOLLOWS, NOT_FOLLOWS, 40)
    assert overlap_pairs(80, condition, seed=5).examples == pairs
    assert overlap_pairs(80, condition, seed=6).examples != pairs
    both = spurious_cues.together(overlap_pairs(4, condition), overlap_pairs(4, "balanced"))
    assert [example.extra["condition"] for example in both.examples] == [condition] * 4 + ["balanced"] * 4


def test_cues_of_choices_and_pairs_by_hand():
    """Niven and Kao's definitions on four examples: "not" applies to three of them and is right in two."""
    choices = [("it is", "it is not"), ("he can't", "he can"), ("not now", "soon"), ("not so", "not yet")]
    examples = [ChoiceExample("c", "", *one) for one in zip(choices, (1, 0, 1, 1), strict=True)]
    found = {cue.word: cue for cue in spurious_cues.cue_words(TaskData(examples), least=1)}
    cue = found["not"]
    assert (cue.applicable, cue.coverage, cue.choices, cue.answer) == (3, 0.75, 2, None)
    assert cue.productivity == pytest.approx(2 / 3)
    assert cue.strength == pytest.approx(0.75 * (2 / 3 - 1 / 2))
    assert "it" not in found  # in both choices: it speaks for neither
    # Of pairs only the second text is read.
    pairs = [PairExample("never", f"{'no' if i % 2 else 'yes'} dog", str(i % 2)) for i in range(20)]
    found = {cue.word: cue for cue in spurious_cues.cue_words(TaskData(pairs), least=5)}
    assert set(found) == {"no", "yes", "dog"}
    assert (found["no"].answer, found["no"].productivity, found["dog"].strength) == ("1", 1.0, 0)
    assert tokens_of("It isn't; I CAN’T, won't! 不好") == {"it", "is", "not", "i", "can", "will", "不", "好"}


def test_the_planted_cue_is_found_and_the_balanced_one_is_not():
    for condition, productivity in (("planted", 1.0), ("balanced", 0.5), ("flipped", 1.0)):
        found = {cue.word: cue for cue in spurious_cues.cue_words(spurious_cues.with_aside(DATA, condition), least=5)}
        assert (found["not"].productivity, found["not"].coverage) == (productivity, 0.5)
    assert spurious_cues.cue_words(spurious_cues.with_aside(DATA, "planted"))[0].word == "not"


def test_hans_is_counted_by_heuristic(answering):
    always = SimpleNamespace(predict=lambda inputs: [{"label": FOLLOWS} for _ in inputs])
    labels = [FOLLOWS] * 9 + [NOT_FOLLOWS] * 5
    pairs = [PairExample("a", "b", label, {"heuristic": "lexical_overlap"}) for label in labels]
    rows = spurious_cues.by_heuristic(always, TaskData(pairs), most=7)
    assert [(row["label"], row["n"], row["accuracy"]) for row in rows] == [(FOLLOWS, 7, 1.0), (NOT_FOLLOWS, 5, 0.0)]
    three = spurious_cues.by_heuristic(answering("pair"), TaskData(pairs), most=2)
    assert [row["accuracy"] for row in three] == [0.0, 1.0]  # it says "no", "maybe", "yes": none is "entailment"


ARCT = ROOT.parent / "shared" / "data" / "tasks" / "en" / "arct2"


@pytest.mark.skipif(not ARCT.is_dir(), reason="ARCT is not in ../shared/data/tasks")
def test_not_is_a_cue_in_arct_and_none_in_its_second_version():
    """Niven and Kao 2019, §3 and §4: productive in the first training set, exactly chance where all is there twice."""
    once, negated = (TASKS["choice"].read(ARCT / f"{name}.csv") for name in ("train", "train-adv-negated"))
    cues, twice = spurious_cues.cue_words(once), spurious_cues.cue_words(negated)
    first, second = cues[0], next(cue for cue in twice if cue.word == "not")
    assert first.word == "not" and first.productivity > 0.6 and first.coverage > 0.6
    assert (second.productivity, second.coverage) == (0.5, first.coverage)
