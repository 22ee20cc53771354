"""Learning a WordPiece vocabulary, merge by merge (`learn`) or in bulk (`learn_fast`), and reading a vocab.txt.

Both start from counted words split into characters, with `##` before each that does not begin its word, and repeatedly
merge the best pair of neighbouring pieces. Two algorithms called WordPiece differ in which pair is best: Schuster &
Nakajima (2012) take the pair that raises the likelihood of the corpus most, which the Hugging Face course reconstructs
as the ratio count(ab) / (count(a)·count(b)), Google's program being unpublished; the trainer of `tokenizers` takes the
most frequent pair, which is BPE with `##`. `learn` can do both.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models, normalizers, pre_tokenizers, trainers

from minibert.text.json_values import json_object

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LONGEST_WORD = 100  # characters; the tokenizer, like BERT's, does not split longer words
REPEATED = 1_000  # most repetitions of a word per training text; the trainer needs a hundred bytes per character


def count_words(texts: Iterable[str], lowercase: bool = True) -> Counter[str]:
    """How often each word occurs. Words are split as in BERT, at white space, punctuation and CJK characters; of one
    longer than LONGEST_WORD only the beginning counts, because a step of learning takes as long as its words are."""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    chunks: Counter[str] = Counter()
    for text in texts:
        chunks.update(normalizer.normalize_str(text).split())
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():
        for word, _ in split(chunk):
            words[word[:LONGEST_WORD]] += count
    return words


def alphabet_of(words: Mapping[str, int], coverage: float = 1.0, limit: int | None = None) -> list[str]:
    """The characters a vocabulary starts from, sorted, then `##` and each of those seen inside a word.

    Only the most frequent characters (ties: lower code point first) that together make up the share `coverage` of the
    text, and of those at most `limit`: an encyclopedia quotes hundreds of letters that would each cost two entries.
    """
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    kept: set[str] = set()
    covered, enough = 0, coverage * counts.total()
    for character in sorted(counts, key=lambda character: (-counts[character], character))[:limit]:
        if covered >= enough:
            break
        kept.add(character)
        covered += counts[character]
    inside = {character for word in words if kept.issuperset(word) for character in word[1:]}
    return sorted(kept) + ["##" + character for character in sorted(inside)]


class Merge(NamedTuple):
    """Two neighbouring pieces became one, wherever they stood side by side.

    step: from 1 · score: of this pair, the best · pair_count, left_count, right_count: occurrences before the merge ·
    words_changed: word → its new pieces · vocab_size: entries so far (a piece that was there already adds none).
    """

    step: int
    left: str
    right: str
    new: str
    score: float
    pair_count: int
    left_count: int
    right_count: int
    words_changed: dict[str, tuple[str, ...]]
    vocab_size: int


def learn(
    words: Mapping[str, int],
    size: int,
    scoring: str = "ratio",
    special: Sequence[str] = SPECIAL_TOKENS,
    *,
    coverage: float = 1.0,
    limit_alphabet: int | None = None,
    min_frequency: int = 2,
) -> Iterator[Merge]:
    """Yield a `Merge` per step until the vocabulary has `size` entries or no pair occurs `min_frequency` times.

    words: what `count_words` returns. scoring: "ratio" or "frequency"; of equally good pairs the one whose pieces
    came first into the vocabulary. That vocabulary is `[*special, *alphabet_of(…)]` and then each merge's `new` that is
    not yet there; with "frequency" it equals what `learn_fast` gives, order included (given equal options).
    """
    if scoring not in ("ratio", "frequency"):
        raise ValueError(f"scoring is {scoring!r}; it can be 'ratio' or 'frequency'")
    ids = {piece: number for number, piece in enumerate(start_of_vocab(words, size, special, coverage, limit_alphabet))}
    cuts = {word: (word[0], *("##" + c for c in word[1:])) for word in words}
    cuts = {word: cut for word, cut in cuts.items() if all(piece in ids for piece in cut)}
    piece_count: Counter[str] = Counter()
    pair_count: Counter[tuple[str, str]] = Counter()
    words_with: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    def count(word: str, sign: int) -> None:
        for piece in cuts[word]:
            piece_count[piece] += sign * words[word]
        for pair in pairwise(cuts[word]):
            pair_count[pair] += sign * words[word]
            (words_with[pair].add if sign > 0 else words_with[pair].discard)(word)

    def score(pair: tuple[str, str]) -> float:
        if scoring == "frequency":
            return pair_count[pair]
        return pair_count[pair] / (piece_count[pair[0]] * piece_count[pair[1]])

    for word in cuts:
        count(word, +1)
    step = 0
    while len(ids) < size:
        often = [pair for pair, occurrences in pair_count.items() if occurrences >= max(min_frequency, 1)]
        if not often:
            return
        left, right = best = min(often, key=lambda pair: (-score(pair), ids[pair[0]], ids[pair[1]]))
        step += 1
        before = score(best), pair_count[best], piece_count[left], piece_count[right]
        new = left + right.removeprefix("##")
        ids.setdefault(new, len(ids))
        changed = sorted(words_with[best])
        for word in changed:
            count(word, -1)
            cuts[word] = merged(cuts[word], left, right, new)
            count(word, +1)
        del pair_count[best], words_with[best]
        yield Merge(step, left, right, new, *before, {word: cuts[word] for word in changed}, len(ids))


def merged(cut: Sequence[str], left: str, right: str, new: str) -> tuple[str, ...]:
    """The pieces of a word with each `left right` made `new`, from left to right."""
    pieces: list[str] = []
    for piece in cut:
        if pieces and piece == right and pieces[-1] == left:
            pieces[-1] = new
        else:
            pieces.append(piece)
    return tuple(pieces)


def start_of_vocab(
    words: Mapping[str, int], size: int, special: Sequence[str], coverage: float, limit: int | None
) -> list[str]:
    """Special tokens and alphabet. Raises ValueError when these alone exceed `size`."""
    alphabet = alphabet_of(words, coverage, limit)
    if len(special) + len(alphabet) > size:
        raise ValueError(
            f"a vocabulary of {size} cannot hold {len(special)} special tokens and {len(alphabet)} characters; "
            "ask for a larger size, less coverage or a limit_alphabet"
        )
    return [*special, *alphabet]


def learn_fast(
    texts: Iterable[str],
    size: int,
    lowercase: bool = True,
    special: Sequence[str] = SPECIAL_TOKENS,
    *,
    coverage: float = 0.9999,
    limit_alphabet: int | None = None,
    min_frequency: int = 2,
) -> list[str]:
    """Learn `size` pieces with the trainer of `tokenizers`; the same texts always give the same list.

    That trainer numbers `##x` in hash-map order and breaks ties by number, so two runs of it differ. Here it gets the
    counted words and an alphabet already in order. A word with a character outside the alphabet (see `alphabet_of`) is
    left out, because it will be [UNK]. Raises ValueError when special tokens and alphabet alone exceed `size`.
    """
    words = count_words(texts, lowercase)
    first = start_of_vocab(words, size, special, coverage, limit_alphabet)
    known = set(first)
    tokenizer = FastTokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    most = 2 * len(first) + sum(map(len, words))  # one piece per merge; the trainer allocates all of `vocab_size`
    trainer = trainers.WordPieceTrainer(
        vocab_size=min(size, most), min_frequency=min_frequency, special_tokens=first, show_progress=False
    )
    repeated = (
        (word + " ") * min(REPEATED, count - done)
        for word, count in words.items()
        if known.issuperset(word)
        for done in range(0, count, REPEATED)
    )
    tokenizer.train_from_iterator(repeated, trainer)
    ids = tokenizer.get_vocab()
    return sorted(ids, key=ids.__getitem__)


def check_vocab(vocab: Sequence[str]) -> None:
    """Raise ValueError for a list without BERT's five special tokens, or with an entry twice or not writable."""
    pieces = {piece: number for number, piece in enumerate(vocab)}
    missing = [token for token in SPECIAL_TOKENS if token not in pieces]
    if missing:
        raise ValueError(f"the vocabulary has no {', '.join(missing)}; BERT needs {' '.join(SPECIAL_TOKENS)}")
    for number, piece in enumerate(vocab):
        if pieces[piece] != number:
            raise ValueError(f"the vocabulary holds {piece!r} twice, as ids {number} and {pieces[piece]}")
        if "\n" in piece or piece.endswith("\r"):
            raise ValueError(f"the vocabulary's entry {number} is {piece!r}, which no line of a vocab.txt can hold")


def read_vocab(path) -> list[str]:
    """The pieces in a vocab.txt or tokenizer.json, by id. Raises ValueError naming the file, and the line at fault.

    Only the line feed ends a line of vocab.txt: vocabularies hold U+2028 and U+0085, where other readers break lines.
    An empty line is an entry that matches nothing, and keeps the ids of those after it.
    """
    path = Path(path)
    if path.suffix == ".json":
        return described_vocab(json_object(path), path)
    lines = read_bytes(path).split(b"\n")
    if not lines[-1]:
        lines.pop()
    vocab: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        try:
            piece = line.removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}, line {number}: not UTF-8 ({error.reason})") from None
        if piece in vocab:
            raise ValueError(f"{path}, line {number}: {piece!r} stands already on line {vocab[piece]}")
        vocab[piece] = number
    return list(vocab)


def described_vocab(described: Mapping[str, Any], path: Path) -> list[str]:
    """The pieces by id in the values of a tokenizer.json. Raises ValueError naming the file."""
    model = described.get("model")
    ids = model.get("vocab") if isinstance(model, dict) and model.get("type") == "WordPiece" else None
    if not isinstance(ids, dict) or sorted(map(str, ids.values())) != sorted(map(str, range(len(ids)))):
        raise ValueError(f"{path}: no WordPiece vocabulary with ids from 0 up in it")
    return sorted(ids, key=ids.__getitem__)


def looks_uncased(pieces: Sequence[str]) -> bool:
    """Guess whether a vocabulary is uncased: at most one piece in 200 has capitals (a vocab.txt does not say)."""
    words = [piece for piece in pieces if not piece.startswith(("[", "<"))]
    return sum(piece != piece.lower() for piece in words) * 200 <= len(words)


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
