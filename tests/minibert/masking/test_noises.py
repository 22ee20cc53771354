"""BART's noises: what each takes away, and that every token that is left knows its place."""

import itertools
import random
from collections import Counter
from math import exp, factorial

import pytest

from minibert.masking.noises import MASK, NOISES, infilled, masked, permuted, poisson, rotated

TEXT = ["anna", "found", "the", "red", "ball", ".", "tom", "went", "to", "the", "zoo", ".", "they", "danced", "."]


def places(parts) -> list[int]:
    return sorted(place for part in parts for place in part.places)


@pytest.mark.parametrize("name", NOISES)
def test_each_token_knows_where_it_was(name):
    for seed in range(20):
        parts = NOISES[name](TEXT, random.Random(seed))
        assert all(part.token == MASK or [TEXT[i] for i in part.places] == [part.token] for part in parts)
        if name == "deletion":
            assert len(set(places(parts))) == len(parts) <= len(TEXT)
        else:
            assert places(parts) == list(range(len(TEXT)))
        assert NOISES[name](TEXT, random.Random(seed)) == parts
    assert NOISES[name]([], random.Random(0)) == []


def test_span_lengths_are_poissons():
    rng = random.Random(0)
    drawn = Counter(poisson(rng) for _ in range(20_000))
    for k in range(8):
        assert drawn[k] / 20_000 == pytest.approx(3**k * exp(-3) / factorial(k), abs=0.01)


def test_a_span_becomes_one_mask_also_a_span_of_nothing():
    lengths = Counter()
    for seed in range(300):
        parts = infilled(TEXT, random.Random(seed))
        spans = [part for part in parts if part.token == MASK]
        lengths.update(len(part.places) for part in spans)
        assert sum(len(part.places) for part in spans) == round(0.3 * len(TEXT))
        assert all(part.places == tuple(range(part.places[0], part.places[-1] + 1)) for part in spans if part.places)
        assert all(a.token != MASK or b.token != MASK for a, b in itertools.pairwise(parts))
    assert lengths[0] and lengths[2] > lengths[5]


def test_sentences_stay_whole_and_a_rotation_goes_round():
    shuffled = " ".join(part.token for part in permuted(TEXT, random.Random(3)))
    sentences = shuffled.removesuffix(" .").split(" . ")
    assert sorted(sentences) == ["anna found the red ball", "they danced", "tom went to the zoo"]
    turned = [part.token for part in rotated(TEXT, random.Random(1))]
    start = places(rotated(TEXT, random.Random(1))[:1])[0]
    assert turned == TEXT[start:] + TEXT[:start]
    assert [part.token for part in masked(TEXT, random.Random(0), rate=0)] == TEXT
