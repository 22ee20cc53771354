"""What a vocabulary costs and gains: merge by merge, at growing size, and compared with characters and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from minibert.text.vocab import SPECIAL_TOKENS, Merge, alphabet_of, count_words, learn, learn_fast
from minibert.tokenizer import Tokenizer


@dataclass(frozen=True)
class LearnedVocabulary:
    """A vocabulary being learned: what it starts from, its merges, and the text's length in tokens after each of them.

    start: special tokens, then the alphabet · words: how often each occurs · tokens[n]: after n merges.
    """

    start: list[str]
    words: Counter[str]
    merges: list[Merge]
    tokens: list[int]

    def pieces(self, step: int) -> list[str]:
        """The vocabulary after `step` merges, in the order it was learned."""
        return list(dict.fromkeys([*self.start, *(merge.new for merge in self.merges[:step])]))

    def cuts(self, step: int) -> dict[str, tuple[str, ...]]:
        """Each word, most frequent first → its pieces after `step` merges."""
        cut = {word: (word[0], *("##" + c for c in word[1:])) for word, _count in self.words.most_common()}
        for merge in self.merges[:step]:
            cut.update(merge.words_changed)
        return cut

    def size(self, step: int) -> int:
        return self.merges[step - 1].vocab_size if step else len(self.start)


def watch_learning(text: str, lowercase: bool, scoring: str, most: int, min_frequency: int = 2) -> LearnedVocabulary:
    """Learn from a text with `minibert.text.vocab.learn`, `most` merges at most, and keep every step."""
    words = count_words([text], lowercase)
    start = [*SPECIAL_TOKENS, *alphabet_of(words)]
    merges = list(islice(learn(words, len(start) + most, scoring, min_frequency=min_frequency), most))
    length = {word: len(word) for word in words}
    tokens = [sum(count * length[word] for word, count in words.items())]
    for merge in merges:
        saved = sum(words[word] * (length[word] - len(cut)) for word, cut in merge.words_changed.items())
        length.update({word: len(cut) for word, cut in merge.words_changed.items()})
        tokens.append(tokens[-1] - saved)
    return LearnedVocabulary(start, words, merges, tokens)


@dataclass(frozen=True)
class Segmentation:
    """One way to split a text. entries: distinct units · tokens: units of the text · lost: words of the second half
    with something that the first half alone does not teach (of `words` in that half)."""

    entries: int
    tokens: int
    lost: int
    words: int


def ways_to_cut(text: str, lowercase: bool = True) -> dict[str, Segmentation]:
    """ "characters", "pieces" and "words" (split at white space) → how a text is split into them.

    Pieces are learned from the text itself (for `lost`, from its first half), merging every pair that occurs twice.
    """
    words = (text.lower() if lowercase else text).split()
    first, second = words[: len(words) // 2], Counter(words[len(words) // 2 :])
    counted, letters, seen = Counter(words), set("".join(first)), set(first)
    learned, half = (Tokenizer(learned_pieces([" ".join(w)], lowercase), lowercase=lowercase) for w in (words, first))
    ids, ids_of_second = learned.encode_bulk(counted), half.encode_bulk(second)

    def way(entries: int, lengths: Iterable[int], unknown: Iterable[bool]) -> Segmentation:
        return Segmentation(
            entries,
            sum(count * length for count, length in zip(counted.values(), lengths, strict=True)),
            sum(count for count, lost in zip(second.values(), unknown, strict=True) if lost),
            second.total(),
        )

    return {
        "characters": way(len(set("".join(words))), map(len, counted), (not letters.issuperset(w) for w in second)),
        "pieces": way(
            learned.vocab_size - len(SPECIAL_TOKENS), map(len, ids), (half.unk_id in word for word in ids_of_second)
        ),
        "words": way(len(counted), (1 for _word in counted), (word not in seen for word in second)),
    }


def learned_pieces(texts: Sequence[str], lowercase: bool, min_frequency: int = 2) -> list[str]:
    """All that can be learned: special tokens, every character, then a piece per merge, in the order of the merges."""
    return learn_fast(texts, 1_000_000, lowercase, coverage=1.0, min_frequency=min_frequency)


def growing_vocabulary(
    words: Counter[str], pieces: Sequence[str], start: int, points: int = 16
) -> list[tuple[int, int]]:
    """(entries, tokens the words become) for the first n of `pieces`, which must be in the order they were merged.

    start: special tokens and characters, without which there is no vocabulary. Sizes are spread evenly over a
    logarithmic axis. words: how often each occurs, as `minibert.text.vocab.count_words` has them.
    """
    ratio = (len(pieces) / start) ** (1 / max(points - 1, 1))
    sizes = sorted({min(len(pieces), round(start * ratio**n)) for n in range(points)} | {len(pieces)})
    return [(size, tokens_of(words, pieces[:size])) for size in sizes]


def tokens_of(words: Counter[str], pieces: Sequence[str]) -> int:
    """How many tokens these words become."""
    cut = Tokenizer(pieces, lowercase=False).encode_bulk(words)
    return sum(count * len(ids) for count, ids in zip(words.values(), cut, strict=True))


def kinds_so_far(words: Sequence[str], points: int = 60) -> tuple[list[int], list[int], list[int]]:
    """Three lists: words read so far, distinct words among them, distinct characters in them."""
    step = max(1, len(words) // points)
    read, kinds, letters = [], [], []
    seen_words: set[str] = set()
    seen_letters: set[str] = set()
    for n, word in enumerate(words, 1):
        seen_words.add(word)
        seen_letters.update(word)
        if n % step == 0 or n == len(words):
            read.append(n)
            kinds.append(len(seen_words))
            letters.append(len(seen_letters))
    return read, kinds, letters
