"""How long the texts of a data set are, against numpy's quantiles and what is read of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minibert.tasks import TASKS, Options
from minibert.tasks.lengths import length_for, row_lengths, share_that_fits
from tests.minibert.tasks.toys import toy

LENGTHS = st.lists(st.integers(1, 600), min_size=1, max_size=80)


@given(LENGTHS, st.integers(1, 100))
def test_the_length_for_a_share_is_numpys_quantile(lengths, percent):
    assert length_for(lengths, percent / 100) == np.quantile(lengths, percent / 100, method="inverted_cdf")


@given(LENGTHS, st.floats(0.01, 1))
def test_at_that_length_the_share_fits_and_below_it_does_not(lengths, share):
    length = length_for(lengths, share)
    assert share_that_fits(lengths, length) >= share - 1e-9
    assert share_that_fits(lengths, length - 1) < share


@pytest.mark.parametrize("name", TASKS)
def test_nothing_is_cut_at_the_longest_and_something_below(name, letters):
    task, data = TASKS[name], toy(name, 12, 0)
    labels = task.labels(data)
    lengths = row_lengths(task, letters, data.examples, labels, Options(max_length=16, doc_stride=4))
    longest = max(lengths)
    at = Options(max_length=longest, doc_stride=longest, max_question=longest)

    def read(options: Options) -> list[int]:
        rows = task.features(letters, data.examples, labels, options)
        return [max(row.length for row in rows if row.example == i) for i in range(len(data.examples))]

    assert read(at) == lengths
    if task.too_long == "truncation":
        assert max(read(replace(at, max_length=longest - 1))) == longest - 1
