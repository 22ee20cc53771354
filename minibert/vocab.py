"""Learning a WordPiece vocabulary: `learn_fast` for real corpora."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models, normalizers, pre_tokenizers, trainers

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def count_words(texts: Iterable[str], lowercase: bool = True) -> Counter[str]:
    """How often each word occurs; words are cut as BERT cuts them, at white space, punctuation and CJK characters."""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    chunks: Counter[str] = Counter()
    for text in texts:
        chunks.update(normalizer.normalize_str(text).split())
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():
        for word, _ in split(chunk):
            words[word] += count
    return words


def alphabet_of(words: Counter[str], coverage: float = 1.0, limit: int | None = None) -> list[str]:
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
    counted words and an alphabet already in order. A word with a character outside the alphabet (see `alphabet_of`)
    teaches nothing, as it will be [UNK]. Raises ValueError when special tokens and alphabet alone exceed `size`.
    """
    words = count_words(texts, lowercase)
    alphabet = alphabet_of(words, coverage, limit_alphabet)
    first = list(special) + alphabet
    if len(first) > size:
        raise ValueError(
            f"a vocabulary of {size} cannot hold {len(special)} special tokens and {len(alphabet)} characters; "
            "ask for a larger size, less coverage or a limit_alphabet"
        )
    known = set(alphabet)
    tokenizer = FastTokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, min_frequency=min_frequency, special_tokens=first, show_progress=False
    )
    repeated = ((word + " ") * count for word, count in words.items() if known.issuperset(word))
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
        if not piece or "\n" in piece or piece.endswith("\r"):
            raise ValueError(f"the vocabulary's entry {number} is {piece!r}, which no line of a vocab.txt can hold")


def read_vocab(path) -> list[str]:
    """The lines of a vocab.txt. Only the line feed ends a line: vocabularies hold U+2028 and U+0085 as pieces."""
    path = Path(path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ValueError(f"{path}: cannot read the vocabulary ({error.strerror})") from None
    if not lines[-1]:
        lines.pop()
    vocab: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        try:
            piece = line.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}, line {number}: not UTF-8 ({error.reason})") from None
        if not piece:
            raise ValueError(f"{path}, line {number}: empty; each line must hold one piece")
        if piece in vocab:
            raise ValueError(f"{path}, line {number}: {piece!r} stands already on line {vocab[piece]}")
        vocab[piece] = number
    return list(vocab)
