"""What falls, how much of it, and what becomes of it: held against arithmetic and against transformers' collator."""

import math
import random

import pytest
import torch
import transformers
from hypothesis import example, given, settings
from hypothesis import strategies as st

from minibert.corruption import MaskVocabulary, draw_words, mask_tokens, masking_budget
from minibert.model import IGNORE
from minibert.tokenizer import SPECIAL_TOKENS, Tokenizer

TOKENIZER = Tokenizer([*SPECIAL_TOKENS, *(f"w{i}" for i in range(60)), *(f"##p{i}" for i in range(35))])
VOCAB = MaskVocabulary.of(TOKENIZER)
FIRST_WORD, FIRST_PIECE = TOKENIZER.ids["w0"], TOKENIZER.ids["##p0"]


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def sentences(lengths, seed=0, pieces=True):
    """Rows [CLS] tokens [SEP] [PAD]… → ids, special (B, T). A row never starts with a continuation piece."""
    longest = max(lengths) + 2
    ids = torch.randint(FIRST_WORD, VOCAB.size if pieces else FIRST_PIECE, (len(lengths), longest), generator=rng(seed))
    special = torch.ones(len(lengths), longest, dtype=torch.bool)
    for row, length in enumerate(lengths):
        special[row, 1 : length + 1] = False
        ids[row, 0] = TOKENIZER.cls_id
        if length:
            ids[row, 1] = FIRST_WORD + row % 60
        ids[row, length + 1] = TOKENIZER.sep_id
        ids[row, length + 2 :] = TOKENIZER.pad_id
    return ids, special


def words_of(ids, special):
    """The words of one row, as lists of positions."""
    words = []
    for position in range(len(ids)):
        if special[position]:
            continue
        if VOCAB.continuation[ids[position]] and words and words[-1][-1] == position - 1:
            words[-1].append(position)
        else:
            words.append([position])
    return words


def test_the_vocabulary_knows_mask_size_and_continuations():
    assert VOCAB.size == len(TOKENIZER.vocab) == 100
    assert VOCAB.mask_id == TOKENIZER.ids["[MASK]"]
    assert [TOKENIZER.vocab[i] for i in VOCAB.continuation.nonzero().flatten()] == [f"##p{i}" for i in range(35)]


# --- the budget, and what else must hold whatever is drawn -------------------------------------------------------


def hidden_in(ids, special, *how, **options):
    """Where something is asked. Labels are the original tokens, nothing else changes, what goes in is left alone."""
    before = ids.clone(), special.clone()
    corrupted, labels = mask_tokens(ids, special, VOCAB, *how, **options)
    assert torch.equal(ids, before[0]) and torch.equal(special, before[1])
    hidden = labels != IGNORE
    assert not (hidden & special).any()
    assert torch.equal(labels[hidden], ids[hidden])
    assert torch.equal(corrupted[~hidden], ids[~hidden])
    return hidden


@given(
    lengths=st.lists(st.integers(0, 70), min_size=1, max_size=5),
    percent=st.integers(0, 100),
    seed=st.integers(0, 2**31),
)
@example(lengths=[12, 5, 0], percent=0, seed=0)
@example(lengths=[12, 5, 0], percent=100, seed=0)
@settings(max_examples=150)
def test_each_row_hides_exactly_its_budget(lengths, percent, seed):
    hidden = hidden_in(*sentences(lengths, seed), rng(seed), rate=percent / 100)
    for row, length in enumerate(lengths):
        wanted = round(length * (percent / 100))  # to even at a half, as Python and the paper's code round
        assert hidden[row].sum() == (max(1, wanted) if percent and length else 0)


def test_budgets_are_rounded_as_python_rounds_them():
    """In single precision 190 × 0.15 would be 28.500002, and 29 tokens would fall instead of 28."""
    for rate in (percent / 100 for percent in range(1, 101)):
        wanted = [max(1, round(n * rate)) for n in range(1, 513)]
        assert masking_budget(torch.arange(513), rate).tolist() == [0, *wanted]
    assert masking_budget(torch.tensor([0, 5, 100]), 0).tolist() == [0, 0, 0]


@pytest.mark.parametrize("whole_words", [False, True])
def test_rows_with_nothing_to_hide_and_an_empty_batch(whole_words):
    assert not hidden_in(*sentences([0, 0]), rng(), whole_words=whole_words).any()
    for shape in ((0, 7), (3, 0)):
        nothing = torch.zeros(shape, dtype=torch.long)
        corrupted, labels = mask_tokens(nothing, nothing.bool(), VOCAB, rng(), whole_words=whole_words)
        assert corrupted.shape == labels.shape == shape


NO_SPLITS = [(0.8, 0.1, 0.2), (1.1, -0.1, 0.0), (0.5, 0.2, 0.2), (0, 0, 0)]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"rate": rate}, "between 0 and 1") for rate in (-0.01, 1.01, math.nan)]
    + [({"split": split}, "sum to 1") for split in NO_SPLITS],
)
def test_what_is_no_share_is_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        mask_tokens(*sentences([4]), VOCAB, rng(), **wrong)


# --- fates -------------------------------------------------------------------------------------------------------


def shares(corrupted, ids, hidden):
    """(masked, changed to another token, unchanged) among hidden positions."""
    masked = (corrupted == TOKENIZER.mask_id)[hidden].float().mean().item()
    same = (corrupted == ids)[hidden].float().mean().item()
    return masked, 1 - masked - same, same


def within(share, expected, n, sigmas=4.5):
    """A share of n draws lies where its binomial distribution puts it (4.5 σ: wrong once in 150,000)."""
    return abs(share - expected) <= sigmas * math.sqrt(expected * (1 - expected) / n) + 1e-9


@pytest.mark.parametrize(
    "split", [(0.8, 0.1, 0.1), (0.5, 0.3, 0.2), (0.0, 0.8, 0.2), (1, 0, 0), (0, 1, 0), (0, 0, 1)], ids=str
)
@pytest.mark.parametrize("whole_words", [False, True])
def test_the_shares_of_the_split(split, whole_words):
    ids, special = sentences([128] * 400)
    corrupted, labels = mask_tokens(ids, special, VOCAB, rng(5), rate=0.3, split=split, whole_words=whole_words)
    hidden = labels != IGNORE
    n = int(hidden.sum())
    assert n > 12_000
    v = VOCAB.size
    # A random token is [MASK] itself, or the token that stood there, once in V draws each.
    expected = split[0] + split[1] / v, split[1] * (1 - 2 / v), split[2] + split[1] / v
    for share, wanted in zip(shares(corrupted, ids, hidden), expected, strict=True):
        assert within(share, wanted, n)


def test_random_tokens_come_evenly_from_the_whole_vocabulary():
    ids, special = sentences([200] * 300)
    corrupted, labels = mask_tokens(ids, special, VOCAB, rng(1), rate=0.5, split=(0, 1, 0))
    counts = torch.bincount(corrupted[labels != IGNORE], minlength=VOCAB.size).double()
    expected = counts.sum() / VOCAB.size
    chi_squared = ((counts - expected) ** 2 / expected).sum().item()
    assert chi_squared < 99 + 4.5 * math.sqrt(2 * 99)  # 99 degrees of freedom
    assert counts[VOCAB.continuation].min() > 0


@pytest.mark.parametrize("whole_words", [False, True])
def test_every_position_falls_equally_often(whole_words):
    ids, special = sentences([20] * 4000, pieces=False)
    hidden = mask_tokens(ids, special, VOCAB, rng(2), whole_words=whole_words)[1] != IGNORE
    for share in hidden[:, 1:21].float().mean(dim=0).tolist():
        assert within(share, 0.15, 4000)


# --- whole words -------------------------------------------------------------------------------------------------


@given(lengths=st.lists(st.integers(0, 60), min_size=1, max_size=4), rate=st.floats(0, 1), seed=st.integers(0, 2**31))
@settings(max_examples=100)
def test_whole_words_fall_complete_within_the_same_budget(lengths, rate, seed):
    ids, special = sentences(lengths, seed)
    hidden = hidden_in(ids, special, rng(seed), rate=rate, whole_words=True)
    for row, length in enumerate(lengths):
        words = words_of(ids[row].tolist(), special[row].tolist())
        fallen = [sum(hidden[row, word].tolist()) for word in words]
        assert all(count in (0, len(word)) for count, word in zip(fallen, words, strict=True))
        budget = max(1, round(length * rate)) if length and rate > 0 else 0
        left = budget - sum(fallen)
        if left < 0:  # only where no word fits: then the shortest, alone
            assert [c for c in fallen if c] == [min(map(len, words))]
        else:
            assert all(len(word) > left for word, count in zip(words, fallen, strict=True) if not count)
        assert (sum(fallen) > 0) == (budget > 0)


def test_without_whole_words_some_word_is_torn_apart():
    """The control for the test above: its condition is not met by chance."""
    ids, special = sentences([60])
    hidden = hidden_in(ids, special, rng(), rate=0.5)[0]
    words = words_of(ids[0].tolist(), special[0].tolist())
    assert any(0 < sum(hidden[word].tolist()) < len(word) for word in words)


def test_a_piece_after_a_special_token_starts_a_word():
    """Truncation can cut a word in two: the piece after [SEP] is not a continuation of what stands before [SEP]."""
    piece, word = FIRST_PIECE, FIRST_WORD
    ids = torch.tensor([[TOKENIZER.cls_id, word, TOKENIZER.sep_id, piece, piece, TOKENIZER.sep_id]])
    special = torch.tensor([[True, False, True, False, False, True]])
    goes_on, budget = VOCAB.continuation[ids], torch.tensor([2])
    drawn = {tuple(draw_words(goes_on, special, budget, rng(seed))[0].tolist()) for seed in range(40)}
    assert drawn == {(False, False, False, True, True, False), (False, True, False, False, False, False)}


def test_one_long_word_is_asked_whole_rather_than_not_at_all():
    ids = torch.tensor([[TOKENIZER.cls_id, FIRST_WORD, *[FIRST_PIECE] * 6, TOKENIZER.sep_id]])
    special = torch.tensor([[True, *[False] * 7, True]])
    assert torch.equal(hidden_in(ids, special, rng(), whole_words=True), ~special)


@pytest.mark.parametrize("whole_words", [False, True])
def test_the_generator_decides_and_torchs_own_is_neither_read_nor_moved(whole_words):
    """Dynamic masking is nothing but going on with the same generator."""
    ids, special = sentences([50] * 3)

    def draw(seed, generator):
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        drawn = torch.stack(mask_tokens(ids, special, VOCAB, generator, whole_words=whole_words))
        assert torch.equal(torch.get_rng_state(), before)
        return drawn

    going_on = rng(7)
    first, *others = (draw(1, going_on) for _ in range(8))
    assert torch.equal(draw(2, rng(7)), first)
    different = [first, draw(1, rng(8)), *others]
    assert len({str(drawn.tolist()) for drawn in different}) == 9


# --- beside transformers -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def collator_for(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabulary")
    TOKENIZER.save(folder)
    theirs = transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    assert len(theirs) == VOCAB.size

    def build(**options):
        return theirs, transformers.DataCollatorForLanguageModeling(theirs, seed=11, **options)

    return build


@pytest.mark.parametrize("split", [(0.8, 0.1, 0.1), (0.6, 0.3, 0.1)])
def test_shares_agree_with_the_transformers_collator(collator_for, split):
    """Same expectation, one difference: the collator tosses a coin a token, the paper's code and ours fill a budget."""
    ids, special = sentences([100] * 300)
    _, collator = collator_for(mlm_probability=0.15, mask_replace_prob=split[0], random_replace_prob=split[1])
    columns = zip(ids.tolist(), special.long().tolist(), strict=True)
    batch = collator([{"input_ids": row, "special_tokens_mask": mask} for row, mask in columns])
    their_hidden = batch["labels"] != IGNORE
    our_corrupted, our_labels = mask_tokens(ids, special, VOCAB, rng(4), split=split)
    our_hidden = our_labels != IGNORE
    theirs, ours = int(their_hidden.sum()), int(our_hidden.sum())
    assert ours == 15 * 300
    assert within(theirs / 30_000, 0.15, 30_000)
    assert torch.equal(batch["labels"][their_hidden], ids[their_hidden])
    assert torch.equal(batch["input_ids"][~their_hidden], ids[~their_hidden])
    pairs = zip(shares(batch["input_ids"], ids, their_hidden), shares(our_corrupted, ids, our_hidden), strict=True)
    for their_share, our_share in pairs:
        pooled = (their_share * theirs + our_share * ours) / (theirs + ours)
        assert abs(their_share - our_share) < 4.5 * math.sqrt(pooled * (1 - pooled) * (1 / theirs + 1 / ours))


def test_whole_words_are_the_transformers_collators_words(collator_for):
    """Theirs finds words by offsets, ours by `##`: on the same text, the same words. Theirs always masks (100/0/0)."""
    generator = random.Random(9)

    def word():
        tail = generator.choices(range(35), k=generator.randrange(3))
        return f"w{generator.randrange(60)}" + "".join(f"p{i}" for i in tail)

    texts = [" ".join(word() for _ in range(14)) for _ in range(60)]
    with pytest.warns(UserWarning, match="whole word"):
        theirs, collator = collator_for(whole_word_mask=True)
    encoded = theirs(texts, return_offsets_mapping=True, return_special_tokens_mask=True, padding=True)
    batch = collator([{k: v[i] for k, v in encoded.items()} for i in range(len(texts))])
    hidden = batch["labels"] != IGNORE
    ids = torch.where(hidden, batch["labels"], batch["input_ids"])
    special = torch.isin(ids, torch.tensor([TOKENIZER.cls_id, TOKENIZER.sep_id, TOKENIZER.pad_id]))
    assert hidden.any()
    assert any(len(word) > 1 for word in words_of(ids[0].tolist(), special[0].tolist()))
    ours = mask_tokens(ids, special, VOCAB, rng(), rate=0.15, whole_words=True)[1] != IGNORE
    for drawn in (hidden, ours):
        for row in range(len(texts)):
            for word in words_of(ids[row].tolist(), special[row].tolist()):
                assert sum(drawn[row, word].tolist()) in (0, len(word))
