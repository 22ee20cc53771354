"""What stays of several texts in one row."""

from hypothesis import given
from hypothesis import strategies as st

from minibert.text.truncation import keep, longest_first

TEXTS = st.lists(st.integers(0, 30), min_size=1, max_size=5)


@given(TEXTS, st.integers(0, 60))
def test_longest_first_takes_a_token_at_a_time_from_the_longest(lengths, room):
    """As BERT's released code does with two texts (`_truncate_seq_pair`), but for whose turn it is among equals."""
    left = list(lengths)
    while sum(left) > room:
        left[max(range(len(left)), key=left.__getitem__)] -= 1
    shares = longest_first(lengths, room)
    assert sorted(shares) == sorted(left) and all(a <= b for a, b in zip(shares, lengths, strict=True))


@given(TEXTS, st.integers(0, 60), st.sampled_from(["head", "tail", "head_tail"]))
def test_cut_together_they_are_one_text(lengths, room, way):
    starts = [sum(lengths[:n]) for n in range(len(lengths))]
    kept = [start + i for start, stays in zip(starts, keep(lengths, room, way), strict=True) for i in stays]
    assert kept == list(keep([sum(lengths)], room, way)[0])


def test_each_text_has_its_budget():
    assert keep([9, 2, 30], 20, "budget", [4, 6, 10]) == [range(4), range(2), range(10)]
