"""Recorded runs in words."""

import re

import pytest

from minibert.experiments.claims import Claim, Judged
from minibert.experiments.results import Difference
from ui.claim import row, seeds_in_words


@pytest.mark.parametrize(("seeds", "said"), [((3, 3), ["3"]), ((1, 1), ["1"]), ((3, 8, 5), ["3", "8"])])
def test_it_is_told_if_arms_have_different_numbers_of_seeds(seeds, said):
    records = [{"arm": f"arm {arm}", "seed": seed} for arm, count in enumerate(seeds) for seed in range(count)]
    assert re.findall(r"\d+", seeds_in_words(records + records[:1])) == said


def test_a_difference_in_nats_says_which_way_is_better():
    """A loss that falls is better, and so is a log-probability that rises."""

    def here(metric: str, mean: float, half: float = 0.1) -> list[str]:
        claim = Claim("a", "b", metric, 1, "", what="a against b")
        return row(Judged(claim, Difference(mean, half, 3), "agrees"), {})["here"].split(", ")[1:-1]

    assert here("loss", -0.3) == here("nats", -0.3) == here("joint_in_order", 0.3) == here("mlm_perplexity", -2)
    assert here("loss", 0.3) == here("joint_at_once", -0.3)
    assert here("loss", 0.3) != here("loss", -0.3) != []
    assert here("loss", -0.3, half=0.4) == here("f1", 0.3) == []  # not decided; more points are more
