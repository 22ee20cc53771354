"""Recorded runs in words."""

import re

import pytest

from ui.claim import seeds_in_words


@pytest.mark.parametrize(("seeds", "said"), [((3, 3), ["3"]), ((1, 1), ["1"]), ((3, 8, 5), ["3", "8"])])
def test_it_is_told_if_arms_have_different_numbers_of_seeds(seeds, said):
    records = [{"arm": f"arm {arm}", "seed": seed} for arm, count in enumerate(seeds) for seed in range(count)]
    assert re.findall(r"\d+", seeds_in_words(records + records[:1])) == said
