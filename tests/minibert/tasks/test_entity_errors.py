"""What is wrong with entities, counted beside seqeval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report

from minibert.tasks.entity_errors import OUTCOMES, compare_entities, count_outcomes
from minibert.tasks.tagging import entities, to_iob2

TAGS = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=9, max_size=9).map(to_iob2)


@pytest.mark.parametrize(
    ("truth", "said", "kinds"),
    [
        ("B-X I-X O", "B-X I-X O", ["right"]),
        ("B-X I-X O", "B-Y I-Y O", ["type"]),
        ("B-X I-X O", "B-X O O", ["border"]),
        ("B-X I-X O", "O B-Y I-Y", ["both"]),
        ("B-X I-X O", "O O O", ["missed"]),
        ("O O O", "O B-Y O", ["invented"]),
        ("B-X I-X I-X", "B-X B-X I-X", ["invented", "border"]),  # the larger overlap is the same entity
        ("B-X I-X B-Y", "B-X I-X I-X", ["border", "missed"]),
        ("B-X B-Y I-Y", "B-Y I-Y I-Y", ["missed", "border"]),  # the type before the place
    ],
)
def test_each_mistake_has_its_name(truth, said, kinds):
    assert [one.kind for one in compare_entities(truth.split(), said.split())] == kinds


def test_the_larger_overlap_is_matched():
    found = compare_entities(["B-X", "I-X", "I-X", "O"], ["B-X", "B-X", "I-X", "O"])
    assert next(one for one in found if one.kind == "border").said == (1, 3, "X")
    assert next(one for one in found if one.kind == "invented").said == (0, 1, "X")


@given(st.lists(st.tuples(TAGS, TAGS), min_size=1, max_size=5))
def test_the_counts_are_those_of_seqeval(rows):
    counts = count_outcomes(rows)
    truth, said = [list(t) for t, _ in rows], [list(s) for _, s in rows]
    total = {name: sum(by[name] for by in counts.values()) for name in OUTCOMES}
    meant, found = (sum(len(entities(tags)) for tags in side) for side in (truth, said))
    assert meant == sum(total.values()) - total["invented"]
    assert found == sum(total.values()) - total["missed"]
    if not meant:
        return
    report = classification_report(truth, said, output_dict=True, zero_division=0)
    for kind, by in counts.items():
        if kind in report:
            assert report[kind]["support"] == sum(by.values()) - by["invented"]
            assert report[kind]["recall"] == pytest.approx(by["right"] / max(1, report[kind]["support"]))
    micro = report["micro avg"]
    assert micro["precision"] == pytest.approx(total["right"] / found if found else 0.0)
    assert micro["recall"] == pytest.approx(total["right"] / meant)
