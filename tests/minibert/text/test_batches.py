"""From text files to batches: reading, sentence pairs, packing."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minibert.model import IGNORE
from minibert.objectives import MaskedLanguageModel, Masking
from minibert.text import segment_pairs as pairing
from minibert.text.batches import FORMATS, PAIR_FORMATS, Position, PretrainingBatches, assemble, padded_batch
from minibert.text.documents import DataError
from minibert.text.segment_pairs import SegmentPair, packed_sentences, segment_pairs
from minibert.text.store import JOINED, TokenStore
from minibert.text.truncation import longest_first
from tests.spelling import LETTERS


def numbered(lengths: list[int], start: int) -> list[list[int]]:
    """Sentences of distinct ids, so that where a token came from can be read off it."""
    ids = iter(range(start, start + sum(lengths)))
    return [list(islice(ids, length)) for length in lengths]


@settings(max_examples=100)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=30),
    st.integers(5, 64),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.1, 1.0]),
)
def test_pairs_keep_the_papers_promises(lengths, max_length, seed, short):
    document = numbered(lengths, start=0)
    last = {sentence[-1] for sentence in document}
    rng = np.random.default_rng(seed)
    pairs = segment_pairs(document, lambda: iter(numbered([7] * 20, start=10_000)), max_length, rng, short)
    assert pairs
    for pair in pairs:
        assert pair.a and pair.b and len(pair.a) + len(pair.b) <= max_length - 3
        assert pair.a == list(range(pair.a[0], pair.a[0] + len(pair.a))) and pair.a[-1] < sum(lengths)
        assert pair.b[0] >= 10_000 if pair.next_label else pair.a[-1] < pair.b[0] <= pair.b[-1] < sum(lengths)
        if not pair.next_label and len(pair.a) + len(pair.b) < max_length - 3:  # nothing was cut off between A and B
            assert pair.a[-1] in last and pair.a[-1] + 1 == pair.b[0]


def test_half_the_pairs_are_true_and_unused_sentences_come_again():
    rng = np.random.default_rng(0)
    document = numbered([10] * 3000, start=0)
    pairs = segment_pairs(document, lambda: iter(numbered([10] * 50, start=10**6)), 128, rng, short_probability=0.0)
    random_share = np.mean([pair.next_label for pair in pairs])
    assert abs(random_share - 0.5) < 4 * 0.5 / len(pairs) ** 0.5
    seen = {token // 10 for pair in pairs for token in pair.a + pair.b if token < 10**6}
    assert len(seen) > 0.99 * len(document)
    alone = segment_pairs([[1, 2]], lambda: iter([[9]]), 32, rng)  # a single sentence always gets a random B
    assert alone == [SegmentPair([1, 2], [9], 1)]


@given(st.integers(0, 50), st.integers(0, 50), st.integers(2, 60), st.integers(0, 99))
def test_truncation_cuts_the_longer_from_its_ends(len_a, len_b, budget, seed):
    a, b = list(range(len_a)), list(range(100, 100 + len_b))
    cut_a, cut_b = pairing.truncate_pair(a, b, budget, np.random.default_rng(seed))
    for cut, whole in ((cut_a, a), (cut_b, b)):
        assert not cut or cut == whole[cut[0] - whole[0] :][: len(cut)]
    assert sorted(map(len, (cut_a, cut_b))) == sorted(longest_first([len_a, len_b], budget))


def test_assembled_rows_look_as_in_the_paper(letters):
    batch, special, joined = assemble([SegmentPair([5, 6], [7], 0), SegmentPair([8], [9, 10, 11], 1)], letters)
    cls, sep, pad = letters.cls_id, letters.sep_id, letters.pad_id
    assert batch.ids.tolist() == [[cls, 5, 6, sep, 7, sep, pad], [cls, 8, sep, 9, 10, 11, sep]]
    assert batch.segments.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert batch.padding.int().tolist() == [[1, 1, 1, 1, 1, 1, 0], [1] * 7]
    assert special.int().tolist() == [[1, 0, 0, 1, 0, 1, 1], [1, 0, 1, 0, 0, 0, 1]]
    assert batch.next_labels.tolist() == [0, 1] and not joined.any()
    rows = [SegmentPair([5, 6 | JOINED, 7, 8 | JOINED], [], None), SegmentPair([9, 10, 11, 12 | JOINED], [], None)]
    batch, special, joined = assemble(rows, letters)  # words that the segmenter has joined
    assert batch.ids[0].tolist() == [cls, 5, 6, 7, 8, sep] and batch.padding is None
    assert joined.int().tolist() == [[0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 1, 0]]
    assert batch.next_labels is None and not batch.segments.any()
    assert special.int().tolist() == [[1, 0, 0, 0, 0, 1]] * 2


@pytest.fixture(scope="module")
def store(letters):
    rng = np.random.default_rng(3)
    words = lambda: " ".join(rng.choice(LETTERS, size=rng.integers(2, 12)))  # noqa: E731
    return TokenStore.build([[words() + "." for _ in range(rng.integers(1, 15))] for _ in range(80)], letters)


@pytest.fixture
def stream(store, letters):
    """A function: options → the batches of the store's rows."""
    options = {"batch_size": 8, "max_length": 40, "seed": 0}
    return lambda **others: PretrainingBatches(store, letters, **{**options, **others})


def test_rows_are_padded_to_the_longest():
    labels = torch.tensor([1, 0])
    batch = padded_batch([[5, 6, 7], (8,)], 9, labels=labels)
    assert batch.ids.tolist() == [[5, 6, 7], [8, 9, 9]] and batch.labels is labels and batch.segments is None
    assert batch.padding.tolist() == [[True] * 3, [True, False, False]]
    assert padded_batch([[5, 9], [9, 9]], 9).padding is None  # a pad token that is given is read


def test_batches_repeat_with_the_seed_and_differ_without(stream):
    first, again, other = ([batch.ids.tolist() for batch in islice(stream(seed=seed), 5)] for seed in (1, 1, 2))
    assert first == again != other


def test_every_pair_of_an_epoch_is_asked_about(stream, letters):
    batches = list(stream(epochs=1))
    assert sum(len(batch.ids) for batch in batches) >= 80
    for batch in batches:
        asked = batch.labels != IGNORE
        assert asked.any(dim=1).all()
        assert not (torch.where(asked, batch.labels, batch.ids) == letters.mask_id).any()


@pytest.mark.parametrize("static", [True, False])
def test_static_masks_repeat_in_every_epoch(stream, static):
    batches = stream(epochs=2, objective=MaskedLanguageModel(Masking(static=static)))
    rows = [tuple(row) for batch in batches for row in batch.ids.tolist()]
    assert (sorted(rows[: len(rows) // 2]) == sorted(rows[len(rows) // 2 :])) == static


def test_a_batch_mixes_documents(letters):
    """Rows of equal length must not come from one document: its topic would drown what the batch teaches."""
    documents = [[f"{letter} {letter} {letter} {letter} {letter}."] * 60 for letter in LETTERS[:20]]
    store = TokenStore.build(documents, letters)
    options = {"batch_size": 16, "max_length": 24, "seed": 0, "short_probability": 0.0}
    for batch in islice(PretrainingBatches(store, letters, **options), 5):
        assert len(set(batch.ids[:, 1].tolist())) >= 5


def test_packed_rows_hold_every_token_once_and_whole_sentences_where_they_fit():
    documents = [numbered([5, 9, 3], 0), numbered([30, 4], 100), numbered([2], 200)]
    everything = [token for document in documents for sentence in document for token in sentence]
    for across in (True, False):
        rows = [pair.a for pair in packed_sentences(iter(documents), 14, separator=-1, across=across)]
        assert [token for row in rows for token in row if token != -1] == everything
        assert max(map(len, rows)) <= 12
        assert any(-1 in row for row in rows) == across
        assert all(len({token // 100 for token in row}) == 1 for row in rows) != across
    assert rows == [
        list(range(5)),
        list(range(5, 17)),
        [*range(100, 112)],
        [*range(112, 124)],
        [*range(124, 130), *range(130, 134)],
        [200, 201],
    ]


def test_single_pairs_are_neighbours_or_strangers():
    document = numbered([3] * 400, 0)
    pairs = pairing.single_sentence_pairs(document, lambda: iter([[10**6]]), 32, np.random.default_rng(0))
    for pair in pairs:
        assert pair.b == [10**6] if pair.next_label else pair.b[0] == pair.a[-1] + 1
    assert 0.4 < np.mean([pair.next_label for pair in pairs]) < 0.6


@pytest.mark.parametrize("input_format", FORMATS)
def test_every_format_gives_rows_a_model_can_read(stream, letters, input_format):
    batches = list(stream(epochs=1, input_format=input_format))
    assert len(batches) > 5
    for batch in batches:
        paired = input_format in ("segment_pair", "sentence_pair")
        assert (batch.next_labels is not None) == paired == bool(batch.segments.any())
        assert batch.ids.size(1) <= 40
        assert (batch.ids[:, 0] == letters.cls_id).all()
        assert not (batch.labels == letters.sep_id).any()


@pytest.mark.parametrize("consumed", [1, 19, 40])
def test_a_stream_goes_on_from_any_position(stream, monkeypatch, consumed):
    monkeypatch.setattr("minibert.text.batches.POOL", 3)  # several pools an epoch
    whole = stream()
    assert len(list(islice(whole, consumed))) == consumed
    place = replace(whole.position)
    expected = [batch.ids.tolist() for batch in islice(whole, 30)]
    assert [batch.ids.tolist() for batch in islice(stream(position=place), 30)] == expected
    assert place != Position()


def test_a_stream_that_cannot_be_is_refused(stream, monkeypatch):
    for beyond in (10**3, 10**400):
        with pytest.raises(DataError, match="not in its text"):
            next(iter(stream(position=Position(batches=beyond, given=2))))
    monkeypatch.setattr(PretrainingBatches, "rows_of", lambda self, documents, rng: [])
    with pytest.raises(DataError, match="not one row"):
        next(iter(stream()))
    with pytest.raises(ValueError, match="segment_pair"):
        stream(input_format="poems")


@pytest.mark.parametrize("input_format", PAIR_FORMATS)
def test_pairs_want_two_documents(letters, input_format):
    store, options = TokenStore.build([["a b. C d."] * 20], letters), {"batch_size": 2, "max_length": 12, "seed": 0}
    assert list(store.elsewhere(0, np.random.default_rng(0))) == []
    with pytest.raises(DataError, match="blank line"):
        PretrainingBatches(store, letters, **options, input_format=input_format)
    packed = PretrainingBatches(store, letters, **options, input_format="full_sentences")
    assert len(next(iter(packed)).ids) == 2
