"""Learning a vocabulary: the readable learner against `tokenizers`' trainer, and against sums done by hand."""

import random
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minibert.text import vocab as vocab_module
from minibert.text.vocab import LONGEST_WORD, SPECIAL_TOKENS, Merge, alphabet_of, count_words, learn, learn_fast
from minibert.tokenizer import Tokenizer

ROOT = Path(__file__).parents[3]
# The example of the Hugging Face course, chapter 6.
HUGS = Counter({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5})
TEXTS = [
    "The unaffable player played; playing the unplayable is unaffordable.",
    "Low, lower, lowest: new, newer, newest. The widest river is wider than the wide one.",
    "Zoë's naïve café, the cafés, 北京 and 北海, half ½ and banana bandana mississippi zzzzzz.",
] * 2


def vocabulary(words, merges, **alphabet) -> list[str]:
    return list(dict.fromkeys([*SPECIAL_TOKENS, *alphabet_of(words, **alphabet), *(merge.new for merge in merges)]))


def test_count_words_cuts_as_bert_does():
    assert count_words(["Don't, DON'T! 北京\u00a0café\0"]) == {
        **{"don": 2, "'": 2, "t": 2, ",": 1, "!": 1, "北": 1, "京": 1, "cafe": 1}
    }
    assert count_words(["Café café"], lowercase=False) == {"Café": 1, "café": 1}
    assert count_words([]) == {}


def test_alphabet():
    assert alphabet_of(HUGS) == [*"bghnpsu", "##g", "##n", "##s", "##u"]
    # 113 characters: u 36, p 17, g 20, n 16, h 15, s 5, b 4 times
    assert alphabet_of(HUGS, limit=2) == ["g", "u"]
    assert alphabet_of(HUGS, coverage=36 / 113) == ["u"]
    assert alphabet_of(HUGS, coverage=37 / 113) == ["g", "u"]
    assert alphabet_of(Counter({"ab": 1, "ba": 1}), limit=1) == ["a"]  # equally frequent: lower code point first


def test_first_merge_by_hand():
    """u is in every word, so `##gs` wins by ratio, 5 / (20 · 5), and `##ug` by frequency, 20 times."""
    cut = {"hugs": ("h", "##u", "##gs")}
    assert next(learn(HUGS, 100)) == Merge(1, "##g", "##s", "##gs", 1 / 20, 5, 20, 5, cut, vocab_size=5 + 11 + 1)
    by_frequency = next(learn(HUGS, 100, "frequency"))
    assert by_frequency[:8] == (1, "##u", "##g", "##ug", 20, 20, 36, 20)
    assert by_frequency.words_changed == {"hug": ("h", "##ug"), "hugs": ("h", "##ug", "##s"), "pug": ("p", "##ug")}


def test_ratio_merges_by_hand():
    """Every score from counts taken anew over the cuts of that moment."""
    cuts = {word: (word[0], *("##" + c for c in word[1:])) for word in HUGS}
    for merge in learn(HUGS, 100):
        corpus = [cuts[word] for word in HUGS.elements()]
        pieces = Counter(piece for cut in corpus for piece in cut)
        pairs = Counter(pair for cut in corpus for pair in pairwise(cut))
        scores = {(a, b): count / (pieces[a] * pieces[b]) for (a, b), count in pairs.items()}
        assert merge.score == scores[merge.left, merge.right] == max(scores.values())
        assert merge[5:8] == (pairs[merge.left, merge.right], pieces[merge.left], pieces[merge.right])
        assert merge.new == merge.left + merge.right.removeprefix("##")
        cuts |= merge.words_changed
        assert all(merge.new in cut for cut in merge.words_changed.values())
    assert cuts == {word: (word,) for word in HUGS}  # with no limit, every word ends as one piece


def test_steps_and_sizes():
    merges = list(learn(HUGS, 24))
    assert [merge.step for merge in merges] == list(range(1, len(merges) + 1))
    assert merges[-1].vocab_size == 24 == len(vocabulary(HUGS, merges))
    assert all(merge.pair_count >= 5 for merge in learn(HUGS, 100, min_frequency=5))


def by_frequency(texts, size, coverage=1.0, **options) -> list[str]:
    """The pieces of the trainer of tokenizers, after ours has found the same in the same order."""
    words, fast = count_words(texts), learn_fast(texts, size, coverage=coverage, **options)
    merges = learn(words, size, "frequency", coverage=coverage, **options)
    assert vocabulary(words, merges, coverage=coverage) == fast
    return fast


@settings(max_examples=100)
@given(
    words=st.dictionaries(st.text("abc", min_size=1, max_size=12), st.integers(1, 6), min_size=1, max_size=12),
    size=st.integers(11, 60),
    min_frequency=st.integers(1, 3),
)
def test_any_words_by_frequency_equal_the_trainer_of_tokenizers(words, size, min_frequency):
    """Ties and overlapping pairs (`aaaa`) included."""
    by_frequency([" ".join([word] * count) for word, count in words.items()], size, min_frequency=min_frequency)


def test_texts_by_frequency_equal_the_trainer_of_tokenizers():
    """A word with a character outside the alphabet teaches neither learner anything."""
    for size, min_frequency in [(90, 1), (120, 2), (1000, 3)]:
        by_frequency(TEXTS, size, min_frequency=min_frequency)
    texts = ["the cat the hat the mat"] * 50 + ["the ωmega thω"]
    without = by_frequency(texts, 60, coverage=0.99)
    assert not any("ω" in piece or "g" in piece for piece in without)
    assert {"the", "cat", "hat", "mat"} <= set(without) and "ω" in learn_fast(texts, 60, coverage=1.0)


def test_fast_learner_is_the_same_every_time():
    """In another process, too: hash maps there start from other random keys."""
    code = f"from minibert.text.vocab import learn_fast; print(learn_fast({TEXTS!r}, 150))"
    other = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert other == f"{learn_fast(iter(TEXTS), 150)}\n"


def test_learned_vocabulary_makes_a_tokenizer():
    pieces = learn_fast(TEXTS, 150, special=[*SPECIAL_TOKENS, "[CAT=CULTURE]"])
    assert pieces[:6] == [*SPECIAL_TOKENS, "[CAT=CULTURE]"]
    tokenizer = Tokenizer(pieces, special_tokens=["[CAT=CULTURE]"])
    assert tokenizer.unk_id not in [number for ids in tokenizer.encode_bulk(TEXTS) for number in ids]
    assert tokenizer.encode("[CAT=CULTURE]").ids[1] == 5
    small = ["[UNK]", "<s>", *(f"##{n}" for n in range(200)), "北"]  # capitals tell a cased one
    assert vocab_module.looks_uncased([*small, "A"]) and not vocab_module.looks_uncased([*small, "A", "É"])


def test_too_small_a_size_is_refused():
    for attempt in (lambda: learn_fast(TEXTS, 20), lambda: list(learn(count_words(TEXTS), 20))):
        with pytest.raises(ValueError, match="20 cannot hold"):
            attempt()
    with pytest.raises(ValueError, match="bpe"):
        next(learn(HUGS, 50, "bpe"))
    assert learn_fast([], 100) == list(SPECIAL_TOKENS) and list(learn(Counter(), 100)) == []


def test_a_long_word_is_cut_where_the_tokenizer_gives_up():
    """What it makes [UNK] of teaches nothing; and each step of learning takes as long as its words are."""
    words = count_words(["ab" * 100_000 + " ab", "x" * LONGEST_WORD])
    assert words == {"ab" * (LONGEST_WORD // 2): 1, "ab": 1, "x" * LONGEST_WORD: 1}
    vocab = learn_fast(["a" * LONGEST_WORD + " b"], 60)
    tokenizer = Tokenizer(vocab)
    assert tokenizer.encode("a" * LONGEST_WORD).tokens[1] != "[UNK]"
    assert tokenizer.encode("a" * (LONGEST_WORD + 1)).tokens[1] == "[UNK]"


def test_learning_looks_at_no_word_longer_than_that(monkeypatch):
    """Counted, not timed: pieces that a step has put together again."""
    seen = []
    before = vocab_module.merged
    monkeypatch.setattr(vocab_module, "merged", lambda cut, *pair: seen.append(len(cut)) or before(cut, *pair))
    text = "".join(random.Random(0).choices("abcdefgh", k=200_000))
    merges = list(learn(count_words([text]), 200, min_frequency=1))
    assert merges and max(seen) <= LONGEST_WORD and sum(seen) < 10_000
