"""From text files to batches: reading, sentence pairs, packing."""

import gzip
import lzma
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minibert.data import (
    DataError,
    Masking,
    SegmentPair,
    TokenStore,
    assemble,
    pretraining_batches,
    read_documents,
    sentence_pairs,
    split_sentences,
    truncate_pair,
)
from minibert.model import IGNORE
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer

LETTERS = [chr(97 + i) for i in range(26)]
TEXT = "the cat sat.\nit slept!\n\nA dog ran. He was Mr. Smith's dog.\n"


@pytest.fixture
def tokenizer():
    return Tokenizer([*SPECIAL_TOKENS, *LETTERS, *("##" + letter for letter in LETTERS), *".,!?"])


def test_plain_packed_and_folders_read_alike(tmp_path):
    expected = [["the cat sat.", "it slept!"], ["A dog ran. He was Mr. Smith's dog."]]
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(TEXT.encode()))
    (tmp_path / "notes.md").write_text("not data")
    for name in ("a.txt", "b.txt.gz", "c.txt.xz"):
        assert list(read_documents([tmp_path / name])) == expected
    assert list(read_documents([tmp_path])) == expected * 3


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.txt", "caf\xe9\n".encode("latin-1"), r"latin.txt, line 1: not UTF-8"),
        ("binary.txt", b"ok\nbad\0\n", r"binary.txt, line 2: a NUL byte"),
        ("cut.txt.xz", lzma.compress(TEXT.encode())[:-20], r"cut.txt.xz cannot be read"),
        ("fake.txt.gz", b"not gzip", r"fake.txt.gz cannot be read"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(read_documents([tmp_path / name]))


def test_missing_paths_and_empty_folders_are_named(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        list(read_documents([tmp_path / "nowhere"]))
    with pytest.raises(DataError, match=r"holds no .txt"):
        list(read_documents([tmp_path]))


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Mr. Smith met Dr. J. Doe. They spoke.", ["Mr. Smith met Dr. J. Doe.", "They spoke."]),
        ('"Stop!" she said. "Now."', ['"Stop!" she said.', '"Now."']),
        ("It cost 3.50 dollars. cheap", ["It cost 3.50 dollars. cheap"]),
        ("他来了。她走了！真的吗？", ["他来了。", "她走了！", "真的吗？"]),
        ("他说：“走。”她走了。", ["他说：“走。”她走了。"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(line, sentences):
    assert split_sentences(line) == sentences


@given(st.text(alphabet='aB .!?。”" ', max_size=60))
def test_splitting_loses_nothing_but_spaces(line):
    assert "".join("".join(split_sentences(line)).split()) == "".join(line.split())


def test_store_gives_back_the_sentences(tokenizer):
    documents = [["ab. Cd", "e!"], ["fg"]]
    store = TokenStore.build(documents, tokenizer)
    expected = [[tokenizer.encode_bulk([s])[0] for s in sentences] for sentences in (["ab.", "Cd", "e!"], ["fg"])]
    assert len(store) == 2
    assert [list(store.document(i)) for i in range(2)] == expected
    assert store.ids.dtype == np.uint16
    with pytest.raises(DataError, match="no text"):
        TokenStore.build([[" "]], tokenizer)


def numbered(lengths: list[int], start: int) -> list[list[int]]:
    """Sentences of distinct ids, so that where a token came from can be read off it."""
    ids = iter(range(start, start + sum(lengths)))
    return [list(islice(ids, length)) for length in lengths]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=30),
    st.integers(5, 64),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.1, 1.0]),
)
def test_pairs_keep_the_papers_promises(lengths, max_length, seed, short):
    document = numbered(lengths, start=0)
    total = sum(lengths)
    follows = {sentence[-1]: sentence[-1] + 1 for sentence in document}
    pairs = sentence_pairs(
        document, lambda: iter(numbered([7] * 20, start=10_000)), max_length, np.random.default_rng(seed), short
    )
    assert pairs
    for pair in pairs:
        assert pair.a and pair.b and len(pair.a) + len(pair.b) <= max_length - 3
        assert pair.a == list(range(pair.a[0], pair.a[0] + len(pair.a))) and pair.a[-1] < total
        if pair.next_label:
            assert pair.b[0] >= 10_000
        else:
            assert pair.b[-1] < total
            # Nothing but what truncation took lies between A and B.
            assert pair.a[-1] < pair.b[0]
            if len(pair.a) + len(pair.b) < max_length - 3:
                assert follows[pair.a[-1]] == pair.b[0]


def test_half_the_pairs_are_true_and_unused_sentences_come_again():
    rng = np.random.default_rng(0)
    document = numbered([10] * 3000, start=0)
    pairs = sentence_pairs(document, lambda: iter(numbered([10] * 50, start=10**6)), 128, rng, short_probability=0.0)
    random_share = np.mean([pair.next_label for pair in pairs])
    assert abs(random_share - 0.5) < 4 * 0.5 / len(pairs) ** 0.5
    seen = {token // 10 for pair in pairs for token in pair.a + pair.b if token < 10**6}
    assert len(seen) > 0.99 * len(document)


def test_a_single_sentence_always_gets_a_random_b():
    pairs = sentence_pairs([[1, 2]], lambda: iter([[9]]), 32, np.random.default_rng(0))
    assert pairs == [SegmentPair([1, 2], [9], 1)]


def test_a_lone_document_has_no_elsewhere(tokenizer):
    store = TokenStore.build([["a b. C d."]], tokenizer)
    assert list(store.elsewhere(0, np.random.default_rng(0))) == []


@given(st.integers(0, 50), st.integers(0, 50), st.integers(2, 60), st.integers(0, 99))
def test_truncation_cuts_the_longer_from_its_ends(len_a, len_b, budget, seed):
    a, b = list(range(len_a)), list(range(100, 100 + len_b))
    cut_a, cut_b = truncate_pair(a, b, budget, np.random.default_rng(seed))
    assert len(cut_a) + len(cut_b) == min(len_a + len_b, budget)
    for cut, whole in ((cut_a, a), (cut_b, b)):
        assert cut == whole[cut[0] - whole[0] :][: len(cut)] if cut else True
    if len_a + len_b > budget and len_a != len_b:
        shorter, longer = sorted((len_a, len_b))
        assert {len(cut_a), len(cut_b)} <= set(range(max(0, budget // 2), longer + 1)) | {shorter}


def test_assembled_rows_look_as_in_the_paper(tokenizer):
    batch, special = assemble([SegmentPair([5, 6], [7], 0), SegmentPair([8], [9, 10, 11], 1)], tokenizer)
    cls, sep, pad = tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id
    assert batch.ids.tolist() == [[cls, 5, 6, sep, 7, sep, pad], [cls, 8, sep, 9, 10, 11, sep]]
    assert batch.segments.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert batch.padding.int().tolist() == [[1, 1, 1, 1, 1, 1, 0], [1] * 7]
    assert special.int().tolist() == [[1, 0, 0, 1, 0, 1, 1], [1, 0, 1, 0, 0, 0, 1]]
    assert batch.next_labels.tolist() == [0, 1]
    equal, _ = assemble([SegmentPair([5], [6], 0)] * 2, tokenizer)
    assert equal.padding is None


@pytest.fixture
def store(tokenizer):
    rng = np.random.default_rng(3)
    words = lambda: " ".join(rng.choice(LETTERS, size=rng.integers(2, 12)))  # noqa: E731
    return TokenStore.build([[words() + "." for _ in range(rng.integers(1, 15))] for _ in range(80)], tokenizer)


def test_batches_repeat_with_the_seed_and_differ_without(store, tokenizer):
    def first(seed):
        batches = pretraining_batches(store, tokenizer, batch_size=4, max_length=40, seed=seed)
        return [batch.ids.tolist() for batch in islice(batches, 5)]

    assert first(1) == first(1) != first(2)


def test_every_pair_of_an_epoch_is_asked_about(store, tokenizer):
    batches = list(pretraining_batches(store, tokenizer, batch_size=8, max_length=40, seed=0, epochs=1))
    assert sum(len(batch.ids) for batch in batches) >= 80
    for batch in batches:
        asked = batch.labels != IGNORE
        assert asked.any(dim=1).all()
        shown = torch.where(asked, batch.labels, batch.ids)
        assert not (shown == tokenizer.mask_id).any()


def test_static_masks_repeat_in_every_epoch(store, tokenizer):
    def epochs(static):
        options = {"batch_size": 8, "max_length": 40, "seed": 0, "epochs": 2, "masking": Masking(static=static)}
        rows = [tuple(row) for batch in pretraining_batches(store, tokenizer, **options) for row in batch.ids.tolist()]
        return sorted(rows[: len(rows) // 2]), sorted(rows[len(rows) // 2 :])

    one, two = epochs(static=True)
    assert one == two
    one, two = epochs(static=False)
    assert one != two


def test_a_batch_mixes_documents(tokenizer):
    """Rows of equal length must not come from one document: its topic would drown what the batch teaches."""
    letters = [chr(97 + i) for i in range(20)]
    documents = [[f"{letter} {letter} {letter} {letter} {letter}." for _ in range(60)] for letter in letters]
    store = TokenStore.build(documents, tokenizer)
    for batch in islice(pretraining_batches(store, tokenizer, batch_size=16, max_length=24, seed=0), 5):
        first = {row[1] for row in batch.ids.tolist()}
        assert len(first) >= 5
