"""Byte-level BPE, RoBERTa's tokenizer and GPT-2's (Radford et al. 2019, §2.2): pieces are made of bytes, so no
character is unknown. A text is split into words, each with the space before it; a word starts as its bytes, and
adjacent pieces are merged, pair by pair, in the order of merges.txt.

Ids, tokens, offsets and word numbers equal those of `tokenizers` (tests check that). The special tokens are RoBERTa's;
[MASK] in a text, as the rest of this project writes it, becomes `<mask>`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors

from minibert.text.json_values import json_object
from minibert.text.tokenizer_files import check_ids, check_parts, described_tokenizer, stored_tokens, tokenizer_config
from minibert.tokenizer import (
    MASK,
    WHITE_SPACE,
    Encoding,
    Section,
    Span,
    Token,
    Tokenizer,
    add_tokens,
    encoding_of,
    write_files,
)

SPECIAL_TOKENS = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")  # in the order [PAD] [UNK] [CLS] [SEP] [MASK]
NAMED = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL_TOKENS, strict=True))
NAMED |= {"bos_token": NAMED["cls_token"], "eos_token": NAMED["sep_token"]}
PARTS = {"model": "BPE", "normalizer": None, "pre_tokenizer": "ByteLevel"}
CONTRACTION = re.compile("'(?:s|t|re|ve|m|ll|d)")
# A word's shape: L letters, N numbers, O all else, _ a plain space, W other white space.
SHAPE = re.compile("_?L+|_?N+|_?O+|[_W]+(?![LNO])|[_W]+")


def byte_letters() -> dict[int, str]:
    """Byte → printable character, as in GPT-2: the byte's own character if it is printable, else the next unused one
    from code point 256 on; a space is Ġ."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in plain)
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + n) for n, byte in enumerate(others)}}


LETTERS = byte_letters()
SPACE = LETTERS[ord(" ")]
BYTES = {letter: byte for byte, letter in LETTERS.items()}


def shape_of(character: str) -> str:
    """The class of a character, see SHAPE."""
    if character in WHITE_SPACE:
        return "_" if character == " " else "W"
    kind = unicodedata.category(character)[0]
    return kind if kind in "LN" else "O"


def cut(text: str) -> list[tuple[int, int]]:
    """(start, end) of each word: a space belongs to the word after it, a contraction ('s, 're) is a word of its own."""
    shape, words, at = "".join(map(shape_of, text)), [], 0
    while at < len(text):
        match = CONTRACTION.match(text, at) or SHAPE.match(shape, at)
        assert match is not None  # each character has a shape
        words.append(match.span())
        at = match.end()
    return words


class ByteTokenizer(Tokenizer):
    """Byte-level BPE. vocab: piece → id · merges: pairs of pieces, the highest priority first · added_tokens: found
    before words are cut, beside RoBERTa's five; those that the vocabulary does not have get the ids after its end.

    Raises ValueError for a vocabulary without the special tokens, or whose ids are not 0 … V − 1.
    """

    def __init__(
        self, vocab: Mapping[str, int], merges: Sequence[tuple[str, str]], added_tokens: Sequence[AddedToken] = ()
    ):
        if sorted(vocab.values()) != list(range(len(vocab))):
            raise ValueError("the ids of a vocabulary must be 0 to its length less one, each once")
        known = {*vocab, *(token.content for token in added_tokens)}
        if missing := [token for token in SPECIAL_TOKENS if token not in known]:
            raise ValueError(f"the vocabulary lacks {missing[0]}")
        if strange := [pair for pair in merges if "".join(pair) not in vocab]:
            raise ValueError(f"the vocabulary lacks {''.join(strange[0])}, which a merge makes")
        self.pieces = dict(vocab)
        mask = AddedToken(SPECIAL_TOKENS[-1], special=True, lstrip=True)
        self.find_tokens(
            [*(AddedToken(token, special=True) for token in SPECIAL_TOKENS[:-1]), mask, *added_tokens],
            aliases={MASK: SPECIAL_TOKENS[-1]},  # typed in a field; in bulk it is letters, as in `tokenizers`
        )
        self.vocab = [*sorted(vocab, key=vocab.__getitem__), *(t for t in self.added_tokens if t not in vocab)]
        self.ids = {token: number for number, token in enumerate(self.vocab)}
        self.longest = max(map(len, vocab))
        self.merges = [(left, right) for left, right in merges]
        self.ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self.lowercase = self.strip_accents = self.chinese_chars = self.clean_text = False
        self.max_word_chars = 0
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (self.ids[token] for token in SPECIAL_TOKENS)
        self.special_ids = frozenset(self.ids[token] for token in (*SPECIAL_TOKENS, *self.special_tokens))
        self.added_ids = frozenset(self.ids[token] for token in self.added_tokens)

    def with_special_tokens(self, tokens: Iterable[str] = (), *, lowercase: bool = False) -> ByteTokenizer:
        further = [*self.added_tokens.values(), *(AddedToken(token, special=True) for token in tokens)]
        return ByteTokenizer(self.pieces, self.merges, further)

    @staticmethod
    def goes_on(piece: str) -> bool:
        return not piece.startswith(SPACE) and piece not in SPECIAL_TOKENS

    def sections(self, text: str) -> Iterator[Section | Token]:
        for section in super().sections(text):
            if isinstance(section, Token):  # the white space that a token took is not in its offsets
                start, end = section.offsets
                found = text[start:end]
                start, end = end - len(found.lstrip(WHITE_SPACE)), start + len(found.rstrip(WHITE_SPACE))
                section = section._replace(offsets=(start, end))
            yield section

    def fold(self, span: Span) -> tuple[Span, Span, Span]:
        return span, span, span

    def section(self, text: str, start: int, end: int) -> Section:
        span = Span(text[start:end], range(start, end))
        return Section(span, span, span, [span.part(a, b) for a, b in cut(span.text)])

    def tokens(self, sections: Iterable[Section | Token]) -> list[Token]:
        tokens: list[Token] = []
        number = 0
        for section in sections:
            if isinstance(section, Token):
                tokens.append(section._replace(word=number))
                number += 1
                continue
            for span in section.words:
                for piece, offsets in zip(self._known_words(span.text), self.places(span), strict=True):
                    tokens.append(Token(piece, self.ids.get(piece, self.unk_id), offsets, False, number))
                number += 1
        return tokens

    def places(self, span: Span) -> Iterator[tuple[int, int]]:
        """(start, end) in the text of each piece of a word, without spaces at either end."""
        of_byte = [place for place, c in zip(span.source, span.text, strict=True) for _ in c.encode()]
        at = 0
        for piece in self._known_words(span.text):
            start, end = of_byte[at], of_byte[at + len(piece) - 1] + 1
            at += len(piece)
            start = min(start + len(piece) - len(piece.lstrip(SPACE)), end)
            yield start, max(end - len(piece) + len(piece.rstrip(SPACE)), start)

    @cached_property
    def _known_words(self) -> Callable[[str], Any]:
        return lru_cache(maxsize=2**16)(self.merged)

    def merged(self, word: str) -> tuple[str, ...]:
        """A word's pieces: start from its bytes and merge the adjacent pair that comes first in `merges`, until no
        merge applies."""
        pieces = [LETTERS[byte] for byte in word.encode()]
        while len(pieces) > 1:
            pairs = list(pairwise(pieces))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            joined, at = [], 0
            while at < len(pieces):
                both = tuple(pieces[at : at + 2]) == best
                joined.append("".join(best) if both else pieces[at])
                at += 1 + both
            pieces = joined
        return tuple(pieces)

    def _join(self, texts: list[list[Token]], add_special: bool = True) -> Encoding:
        """<s> text </s>, or <s> text </s></s> pair </s>. `segments` are 0 and 1, though RoBERTa does not use
        them."""
        if add_special and len(texts) == 2:
            texts = [texts[0], [Token(SPECIAL_TOKENS[3], self.sep_id, (0, 0), True, None), *texts[1]]]
        first, last = (Token(self.vocab[i], i, (0, 0), True, None) for i in (self.cls_id, self.sep_id))
        row = [
            (token, segment)
            for segment, tokens in enumerate(texts)
            for token in ([*([first] * (not segment)), *tokens, last] if add_special else tokens)
        ]
        return encoding_of([token for token, _ in row], [segment for _, segment in row])

    def encode(self, text, pair=None, *, max_length=None, **options) -> Encoding:
        """As `Tokenizer.encode`; a pair has one more </s> between its texts."""
        if pair is not None and max_length is not None and options.get("add_special", True):
            max_length -= 1
        return super().encode(text, pair, max_length=max_length, **options)

    def decode(self, ids: Iterable[int], skip_special: bool = False) -> str:
        """The original text, with all its spaces."""
        kept = [i for i in map(int, ids) if not (skip_special and i in self.special_ids)]
        pieces = "".join(self.vocab[i] if i in self.added_ids else f"\0{self.vocab[i]}\0" for i in kept)
        return "".join(
            bytes(BYTES[letter] for letter in part).decode(errors="replace") if inside else part
            for inside, part in ((n % 2, part) for n, part in enumerate(pieces.replace("\0\0", "").split("\0")))
        )

    @cached_property
    def _fast(self) -> tokenizers.Tokenizer:
        fast = tokenizers.Tokenizer(models.BPE(self.pieces, self.merges))
        fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        fast.decoder = decoders.ByteLevel()
        _, _, first, last, _ = SPECIAL_TOKENS
        ends = (last, self.sep_id), (first, self.cls_id)
        fast.post_processor = processors.RobertaProcessing(*ends, trim_offsets=True, add_prefix_space=False)
        add_tokens(fast, self.added_tokens.values())
        return fast

    @classmethod
    def from_directory(cls, directory) -> ByteTokenizer:
        """Read vocab.json and merges.txt, or tokenizer.json if there is no merges.txt. Raises ValueError with the
        file's name."""
        directory = Path(directory)
        file = directory / "merges.txt"
        if not file.is_file():
            file = directory / "tokenizer.json"
        config, described = tokenizer_config(directory, NAMED), described_tokenizer(directory)
        check_parts(directory, described, PARTS)
        try:
            if file.name == "merges.txt":
                vocab = json_object(directory / "vocab.json")
                lines = [line for line in file.read_text(encoding="utf-8").split("\n") if line]
                pairs = [tuple(line.split(" ")) for line in lines if not line.startswith("#version")]
            else:
                model = described["model"]
                vocab = model["vocab"]
                pairs = [tuple(pair.split(" ") if isinstance(pair, str) else pair) for pair in model["merges"]]
            if any(len(pair) != 2 for pair in pairs) or not all(isinstance(i, int) for i in vocab.values()):
                raise ValueError("it is no byte-level BPE: pieces with their numbers, and merges of two pieces")
            prefixed = described.get("pre_tokenizer", {}).get("add_prefix_space") or config.get("add_prefix_space")
            if prefixed:
                raise ValueError("add_prefix_space is set; this tokenizer does not put a space before a text")
            tokens = stored_tokens(directory, config, described)
            # a name alone, in a config, does not change the flags that RoBERTa's five have
            further = [token for t, (token, number) in tokens.items() if number is not None or t not in SPECIAL_TOKENS]
            tokenizer = cls(vocab, pairs, further)
            check_ids(directory, tokens, tokenizer.ids)
            return tokenizer
        except (KeyError, TypeError, AttributeError, OSError) as error:
            raise ValueError(f"{file}: no byte-level BPE ({error!r})") from None
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None

    def save(self, directory) -> None:
        """Write vocab.json, merges.txt, tokenizer_config.json and tokenizer.json, as transformers does for RoBERTa."""
        config = {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": False, **NAMED}
        files = {
            "vocab.json": json.dumps(self.pieces, ensure_ascii=False),
            "merges.txt": "#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in self.merges),
            "tokenizer_config.json": json.dumps(config, indent=2) + "\n",
            "tokenizer.json": self.fast().to_str(pretty=True) + "\n",
        }
        write_files(Path(directory), files)


def is_byte_level(directory: Path) -> bool:
    """Whether a directory holds a byte-level BPE, and no WordPiece vocab.txt."""
    if (directory / "vocab.txt").is_file():
        return False
    if (directory / "merges.txt").is_file():
        return True
    file = directory / "tokenizer.json"
    try:
        return file.is_file() and json_object(file)["model"]["type"] == "BPE"
    except (ValueError, KeyError, TypeError):
        return False
