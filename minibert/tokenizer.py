"""The BERT tokenizer: clean → space out CJK → split on spaces → accents and case → punctuation → WordPiece.

Each step is a function from spans to spans; a span is text that knows, character by character, where in the original
text it came from. `Tokenizer.encode` runs the steps, `Tokenizer.explain` runs the same steps and shows what each did,
`Tokenizer.fast` is the same tokenizer in Rust (`tokenizers`), for bulk work. Ids, tokens, offsets and word numbers of
the two are equal for every text; the tests check that.

Special tokens are found in the raw text before anything else, as in transformers: `[MASK]` or `[SEP]` in a text becomes
the special token. That lets a student write "the [MASK] barked"; keep it in mind with untrusted text.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from minibert.text.characters import (
    category,
    cleaned,
    combining_class,
    decomposed,
    is_cjk,
    is_mark,
    is_plain,
    is_punctuation,
    lower,
    why_dropped,
)
from minibert.text.json_values import json_object, json_value, short
from minibert.text.tokenizer_files import (
    ARGUMENTS,
    bert_options,
    check_ids,
    check_parts,
    described_tokenizer,
    stored_tokens,
    tokenizer_config,
)
from minibert.text.truncation import keep
from minibert.text.vocab import LONGEST_WORD, SPECIAL_TOKENS, check_vocab, described_vocab, read_vocab

PAD, UNK, CLS, SEP, MASK = SPECIAL_TOKENS
MOST_ROWS_BEYOND, MOST_WORD_CHARS = 2**16, 2**16
# Unicode's White_Space, which is not Python's.
WHITE_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
NAMED = {"unk_token": UNK, "sep_token": SEP, "pad_token": PAD, "cls_token": CLS, "mask_token": MASK}

# transformers' classes with BERT's algorithm, and generic ones, whose algorithm is in tokenizer.json
SAME_ALGORITHM = tuple(f"{name}Tokenizer" for name in ("Bert", "DistilBert", "Electra", "MobileBert", "LayoutLM"))
GENERIC = ("PreTrainedTokenizer", "TokenizersBackend")
PARTS = {"model": "WordPiece", "normalizer": "BertNormalizer", "pre_tokenizer": "BertPreTokenizer"}


class Span(NamedTuple):
    """Text between two steps, and for each of its characters the position in the original text it came from."""

    text: str
    source: Sequence[int]

    @property
    def offsets(self) -> tuple[int, int]:
        """(start, end) in the original text; (0, 0) for nothing."""
        return (self.source[0], self.source[-1] + 1) if self.source else (0, 0)

    def part(self, start: int, end: int) -> Span:
        return Span(self.text[start:end], self.source[start:end])


# ---- the steps -----------------------------------------------------------------------------------------------------


def clean(span: Span) -> Span:
    """Drop the null character, U+FFFD, control, format and private-use characters; make every space a plain one."""
    kept = [(left, i) for c, i in zip(span.text, span.source, strict=True) if (left := cleaned(c))]
    return Span("".join(c for c, _ in kept), [i for _, i in kept])


def space_out_cjk(span: Span) -> Span:
    """A space on either side of each Chinese character, so that it becomes a word of its own."""
    if not any(map(is_cjk, span.text)):
        return span
    text = "".join(f" {c} " if is_cjk(c) else c for c in span.text)
    source = [i for c, i in zip(span.text, span.source, strict=True) for _ in range(3 if is_cjk(c) else 1)]
    return Span(text, source)


def split_on_spaces(span: Span) -> list[Span]:
    """The words between white space; after `clean` there is only one kind of it."""
    return [span.part(*match.span()) for match in re.finditer(f"[^{WHITE_SPACE}]+", span.text)]


def decompose(span: Span) -> Span:
    """NFD: é → e + accent; several marks on one letter are put in canonical order.

    `source` is assigned as `tokenizers` does it: the n-th kept character in the new order takes the
    place of the n-th original one, and an added character that of the character before it.
    """
    if all(map(is_plain, span.text)):
        return span
    items = [(combining_class(d), d, n == 0) for c in span.text for n, d in enumerate(decomposed(c))]
    ordered = []
    for has_class, run in groupby(items, key=lambda item: item[0] > 0):
        marks_or_bases = list(run)
        ordered += sorted(marks_or_bases, key=lambda item: item[0]) if has_class else marks_or_bases
    source, used = [], -1
    for _, _, replaces in ordered:
        used += replaces
        source.append(span.source[used])
    return Span("".join(d for _, d, _ in ordered), source)


def strip_marks(span: Span) -> Span:
    """Drop the accents that `decompose` has set free."""
    if not any(map(is_mark, span.text)):
        return span
    kept = [n for n, c in enumerate(span.text) if not is_mark(c)]
    return Span("".join(span.text[n] for n in kept), [span.source[n] for n in kept])


def lowercase(span: Span) -> Span:
    """Lower case; without `strip_marks` before, İ becomes two characters."""
    lowered = [lower(c) for c in span.text]
    source = [i for i, low in zip(span.source, lowered, strict=True) for _ in low]
    return Span("".join(lowered), source)


def split_off_punctuation(span: Span) -> list[Span]:
    """Each punctuation character by itself, and the text between them."""
    cuts = [0, *(n for at, c in enumerate(span.text) if is_punctuation(c) for n in (at, at + 1)), len(span.text)]
    return [span.part(start, end) for start, end in pairwise(cuts) if start < end]


def basic_tokens(text: str, uncased: bool = False) -> list[str]:
    """The words of a text and its punctuation marks, as WordPiece gets them; accents stay."""
    span = space_out_cjk(clean(Span(text, range(len(text)))))
    words = split_on_spaces(lowercase(span) if uncased else span)
    return [part.text for word in words for part in split_off_punctuation(word)]


# ---- what comes out ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Encoding:
    """What the model reads: parallel lists, one entry a token.

    offsets: (start, end) in the original text of the token's segment, (0, 0) for an added [CLS] or [SEP] · segments: 0
    for the first text and its [CLS] and [SEP], 1 for the second · special: an added token or a special token found in
    the text (a word that became [UNK] is none) · words: number of the word within its text, None for an added token.
    """

    tokens: list[str]
    ids: list[int]
    offsets: list[tuple[int, int]]
    segments: list[int]
    special: list[bool]
    words: list[int | None]

    def __len__(self) -> int:
        return len(self.ids)

    def word_spans(self) -> list[tuple[int, int]]:
        """(start, end) of each word of the first text; a punctuation mark or a special token found is one too."""
        spans: dict[int, tuple[int, int]] = {}
        for (start, end), segment, word in zip(self.offsets, self.segments, self.words, strict=True):
            if word is not None and not segment:
                spans[word] = (spans.get(word, (start,))[0], end)
        return list(spans.values())


class Token(NamedTuple):
    """One entry of an Encoding, but for its segment."""

    token: str
    id: int
    offsets: tuple[int, int]
    special: bool
    word: int | None


def encoding_of(tokens: Sequence[Token], segments: list[int]) -> Encoding:
    """The tokens of a row as parallel lists."""
    columns = map(list, zip(*tokens, strict=True)) if tokens else ([] for _ in Token._fields)
    pieces, ids, offsets, special, words = columns
    return Encoding(pieces, ids, offsets, segments, special, words)


class Try(NamedTuple):
    """One lookup of WordPiece: is `piece`, made of characters start…end of the word, in the vocabulary?"""

    start: int
    end: int
    piece: str
    found: bool


class Unknown(NamedTuple):
    """Why a word is [UNK]. reason: "too_long" (position: the limit) or "no_piece" (position: where nothing matched)."""

    reason: str
    position: int

    def __str__(self) -> str:
        if self.reason == "too_long":
            return f"longer than {self.position} characters"
        return f"no piece matches from character {self.position}"


class Part(NamedTuple):
    """A word or a punctuation character as WordPiece gets it. pieces: (start, end, piece), characters of `span`."""

    span: Span
    pieces: list[tuple[int, int, str]]
    unknown: Unknown | None
    tries: list[Try] | None


class Word(NamedTuple):
    """The text between two spaces after each step. A cased tokenizer leaves the first four equal."""

    split: Span
    decomposed: Span
    stripped: Span
    lowered: Span
    parts: list[Part]
    part_count: int  # more than len(parts) where an explanation was cut short

    @property
    def dropped(self) -> list[str]:
        """The accents that were dropped."""
        return [c for c in self.decomposed.text if is_mark(c)] if self.stripped != self.decomposed else []


class Section(NamedTuple):
    """A stretch of text without special tokens: cleaned, spaced out and cut into words."""

    original: Span
    cleaned: Span
    spaced: Span
    words: list[Span]


class Change(NamedTuple):
    """A character that cleaning dropped (`became` is empty) or turned into a plain space."""

    position: int
    character: str
    became: str
    why: str

    @property
    def code_point(self) -> str:
        return f"U+{ord(self.character):04X}"

    @property
    def name(self) -> str:
        """The Unicode name; control characters have none."""
        return unicodedata.name(self.character, "")


@dataclass(frozen=True)
class Explanation:
    """All steps of one text in order. `cleaned` and `spaced` are whole texts, special tokens left in their places.

    cjk: (position, character) of each · words: the first ones only, `word_count` says how many there are.
    """

    text: str
    lowercase: bool
    specials: list[Token]
    changes: list[Change]
    cleaned: str
    cjk: list[tuple[int, str]]
    spaced: str
    words: list[Word]
    word_count: int
    encoding: Encoding


# ---- added tokens ---------------------------------------------------------------------------------------------------


class TokenFinder:
    """Finds added tokens in a text: the leftmost, of several the longest. tokens: what is looked for → the token."""

    def __init__(self, tokens: Mapping[str, AddedToken]):
        self.tokens = tokens
        self.pattern = re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))

    def find(self, text: str) -> Iterator[tuple[str, int, int]]:
        """(content, start, end) of each; white space beside a token belongs to it if its lstrip or rstrip is set."""
        after = 0
        for match in self.pattern.finditer(text) if self.tokens else ():
            token, (start, end) = self.tokens[match.group()], match.span()
            if token.single_word and any(in_word(text[i]) for i in (start - 1, end) if 0 <= i < len(text)):
                continue
            if token.lstrip:
                start = after + len(text[after:start].rstrip(WHITE_SPACE))
            while token.rstrip and end < len(text) and text[end] in WHITE_SPACE:
                end += 1
            yield token.content, start, end
            after = end


def in_word(character: str) -> bool:
    r"""Whether a character is \w."""
    return character.isalnum() or category(character) in ("Mn", "Mc", "Me", "Pc")


# ---- the tokenizer -------------------------------------------------------------------------------------------------


class Tokenizer:
    """A BERT tokenizer over a list of pieces, the place in the list being the id.

    strip_accents: as `lowercase` if None · chinese_chars, clean_text: whether these two steps are done ·
    special_tokens: further ones beside [PAD] [UNK] [CLS] [SEP] [MASK], e.g. "[CAT=CULTURE]" · added_tokens: others that
    are found before words are cut, special or not; those that the vocabulary does not have get the ids after its end ·
    rows: of the model's embedding matrix; some models round their number up, and the unused ones are named
    "[row 30522]". Raises ValueError for a list that is no BERT vocabulary (`check_vocab`).
    """

    def __init__(
        self,
        vocab: Sequence[str],
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        chinese_chars: bool = True,
        clean_text: bool = True,
        special_tokens: Sequence[str] = (),
        added_tokens: Sequence[AddedToken] = (),
        max_word_chars: int = LONGEST_WORD,
        rows: int = 0,
    ):
        check_vocab(vocab)
        if rows > len(vocab) + MOST_ROWS_BEYOND:
            raise ValueError(f"{short(rows)} rows for a vocabulary of {len(vocab):,} pieces")
        if not 1 <= max_word_chars <= MOST_WORD_CHARS:
            raise ValueError(f"a word has from 1 to {MOST_WORD_CHARS:,} characters, not {short(max_word_chars)}")
        if "" in special_tokens:
            raise ValueError("a special token cannot be empty")
        self.pieces = {piece: number for number, piece in enumerate(vocab)}  # what WordPiece may use
        self.longest = max(map(len, self.pieces))
        self.lowercase, self.max_word_chars = lowercase, max_word_chars
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.chinese_chars, self.clean_text = chinese_chars, clean_text
        self.find_tokens([*(AddedToken(t, special=True) for t in (*SPECIAL_TOKENS, *special_tokens)), *added_tokens])
        self.vocab = [*vocab, *(token for token in self.added_tokens if token not in self.pieces)]
        self.ids = {token: number for number, token in enumerate(self.vocab)}
        self.vocab += [f"[row {number}]" for number in range(len(self.vocab), rows)]
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (self.ids[t] for t in SPECIAL_TOKENS)
        self.special_ids = frozenset(self.ids[token] for token in (*SPECIAL_TOKENS, *self.special_tokens))

    def find_tokens(self, tokens: Iterable[AddedToken], aliases: Mapping[str, str] = MappingProxyType({})) -> None:
        """Set what is found before words are cut; of two with the same content the later. aliases: text → token."""
        self.added_tokens = {token.content: token for token in tokens}
        self.special_tokens = tuple(content for content, token in self.added_tokens.items() if token.special)
        raw = {content: token for content, token in self.added_tokens.items() if not token.normalized}
        self._raw = TokenFinder({**raw, **{text: raw[content] for text, content in aliases.items()}})
        in_normalized: dict[str, AddedToken] = {}
        for content, token in self.added_tokens.items():
            if token.normalized:
                in_normalized.setdefault(self.normalized(content, 0, len(content)).text, token)
        in_normalized.pop("", None)
        self._in_normalized = TokenFinder(in_normalized)

    def with_special_tokens(self, tokens: Iterable[str] = (), *, lowercase: bool = False) -> Tokenizer:
        """The tokenizer with further special tokens. lowercase: with lower case, whatever it has now."""
        added = [AddedToken(token, special=True) for token in tokens]
        if not added and self.lowercase >= lowercase:
            return self
        return Tokenizer(
            list(self.pieces),
            lowercase=self.lowercase or lowercase,
            strip_accents=self.strip_accents,
            chinese_chars=self.chinese_chars,
            clean_text=self.clean_text,
            added_tokens=[*self.added_tokens.values(), *added],
            max_word_chars=self.max_word_chars,
        )

    @property
    def rules(self) -> list[str]:
        """All that decides, beside the vocabulary, how a text is cut."""
        steps = (self.lowercase, self.strip_accents, self.chinese_chars, self.clean_text, self.max_word_chars)
        return [str(steps), *map(repr, self.added_tokens.values())]

    @property
    def vocab_size(self) -> int:
        """Number of ids, special tokens and rows beyond the vocabulary included."""
        return len(self.vocab)

    @staticmethod
    def goes_on(piece: str) -> bool:
        """Whether a piece continues the word of the piece before it."""
        return piece.startswith("##")

    def encode(
        self,
        text: str,
        pair: str | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
        budgets: Sequence[int] | None = None,
        add_special: bool = True,
    ) -> Encoding:
        """[CLS] text [SEP] or [CLS] text [SEP] pair [SEP], at most `max_length` tokens; see `truncation.keep`.

        add_special=False leaves [CLS] and [SEP] out. Raises ValueError for a max_length that has no room for them.
        """
        texts = [self.tokens(self.sections(one)) for one in ([text] if pair is None else [text, pair])]
        added = 1 + len(texts) if add_special else 0
        room = None if max_length is None else max_length - added
        if room is not None and room < 0:
            raise ValueError(f"max_length {max_length} has no room for {added} special tokens")
        kept = keep([len(tokens) for tokens in texts], room, truncation, budgets)
        return self._join([[tokens[i] for i in stay] for tokens, stay in zip(texts, kept, strict=True)], add_special)

    def _join(self, texts: list[list[Token]], add_special: bool = True) -> Encoding:
        row: list[Token] = []
        segments: list[int] = []
        for segment, tokens in enumerate(texts):
            if add_special:
                cls = [] if segment else [Token(CLS, self.cls_id, (0, 0), True, None)]
                tokens = [*cls, *tokens, Token(SEP, self.sep_id, (0, 0), True, None)]
            row += tokens
            segments += [segment] * len(tokens)
        return encoding_of(row, segments)

    def explain(self, text: str, max_words: int = 200) -> Explanation:
        """Every step of `encode(text)` as data. Words and parts beyond `max_words` are counted, but not shown."""
        sections = list(self.sections(text))
        plain = [section for section in sections if isinstance(section, Section)]
        words: list[Word] = []
        left = max_words
        for span in (span for section in plain for span in section.words):
            if left <= 0:
                break
            words.append(self.word(span, record=left))
            left -= max(1, len(words[-1].parts))
        return Explanation(
            text=text,
            lowercase=self.lowercase,
            specials=[section for section in sections if isinstance(section, Token)],
            changes=[
                Change(i, c, cleaned(c), why_dropped(c) or "another kind of white space")
                for section in plain
                if self.clean_text
                for c, i in zip(*section.original, strict=True)
                if cleaned(c) != c
            ],
            cleaned="".join(s.token if isinstance(s, Token) else s.cleaned.text for s in sections),
            cjk=[(i, c) for section in plain for c, i in zip(*section.cleaned, strict=True) if is_cjk(c)],
            spaced="".join(s.token if isinstance(s, Token) else s.spaced.text for s in sections),
            words=words,
            word_count=sum(len(section.words) for section in plain),
            encoding=self._join([self.tokens(sections)]),
        )

    def sections(self, text: str) -> Iterator[Section | Token]:
        """The added tokens found in a text, first in the raw text, then in what is normalized; and the text between
        them, cut into words."""
        start = 0
        for content, first, last in self._raw.find(text):
            yield from self.between(text, start, first)
            yield self.token(content, first, last)
            start = last
        yield from self.between(text, start, len(text))

    def between(self, text: str, start: int, end: int) -> Iterator[Section | Token]:
        """The sections of text[start:end], in which no token is found before it is normalized."""
        if self._in_normalized.tokens:
            span = self.normalized(text, start, end)
            for content, first, last in self._in_normalized.find(span.text):
                place = span.part(first, last).offsets
                yield self.section(text, start, place[0])
                yield self.token(content, *place)
                start = place[1]
        yield self.section(text, start, end)

    def token(self, content: str, start: int, end: int) -> Token:
        return Token(content, self.ids[content], (start, end), self.added_tokens[content].special, None)

    def section(self, text: str, start: int, end: int) -> Section:
        original = Span(text[start:end], range(start, end))
        tidy = clean(original) if self.clean_text else original
        spaced = space_out_cjk(tidy) if self.chinese_chars else tidy
        return Section(original, tidy, spaced, split_on_spaces(spaced))

    def normalized(self, text: str, start: int, end: int) -> Span:
        """text[start:end] after all steps but the cutting into words."""
        return self.fold(self.section(text, start, end).spaced)[-1]

    def fold(self, span: Span) -> tuple[Span, Span, Span]:
        """The span with accents set free, without them, and in lower case, as far as this tokenizer does so."""
        decomposed = decompose(span) if self.strip_accents else span
        stripped = strip_marks(decomposed) if self.strip_accents else span
        return decomposed, stripped, lowercase(stripped) if self.lowercase else stripped

    def tokens(self, sections: Iterable[Section | Token]) -> list[Token]:
        """The tokens of one text, without [CLS] and [SEP]. Each part of a word has a number of its own."""
        tokens: list[Token] = []
        number = 0
        for section in sections:
            if isinstance(section, Token):
                tokens.append(section._replace(word=number))
                number += 1
                continue
            for span in section.words:
                known = self._known_words if len(span.text) <= self.max_word_chars else self.pieces_of
                pieces, count = known(span.text)
                source = span.source
                for start, end, piece, part in pieces:
                    offsets = (source[start], source[end - 1] + 1)
                    tokens.append(Token(piece, self.pieces[piece], offsets, False, number + part))
                number += count
        return tokens

    @cached_property
    def _known_words(self) -> Callable[[str], Any]:
        """`pieces_of` with a cache, as texts repeat their words."""
        return lru_cache(maxsize=2**16)(self.pieces_of)

    def pieces_of(self, text: str) -> tuple[list[tuple[int, int, str, int]], int]:
        """The pieces of a word, each with its place in the word and the number of its part, and the number of parts."""
        word = self.word(Span(text, range(len(text))))
        pieces = [
            (*part.span.part(start, end).offsets, piece, number)
            for number, part in enumerate(word.parts)
            for start, end, piece in part.pieces
        ]
        return pieces, word.part_count

    def word(self, split: Span, record: int | None = None) -> Word:
        """Accents, case, punctuation and WordPiece for one word. record: keep every try, of that many parts."""
        folded = self.fold(split)
        spans = split_off_punctuation(folded[-1])
        parts = []
        for span in spans[:record]:
            tries: list[Try] | None = None if record is None else []
            parts.append(Part(span, *self.wordpiece(span.text, tries), tries))
        return Word(split, *folded, parts, len(spans))

    def wordpiece(self, word: str, tries: list[Try] | None = None) -> tuple[list[tuple[int, int, str]], Unknown | None]:
        """Greedy longest match first: ([(start, end, piece), …], why it is [UNK] if it is). Appends to `tries`.

        A piece inside the word carries `##`. If nothing matches at some place, the whole word is [UNK].
        """
        length = len(word)
        if length > self.max_word_chars:
            return [(0, length, UNK)], Unknown("too_long", self.max_word_chars)
        pieces, start = [], 0
        while start < length:
            prefix = "##" if start else ""
            # Candidates longer than the vocabulary's longest piece are only looked up to record them in `tries`.
            longest = length if tries is not None else min(length, start + self.longest)
            for end in range(longest, start, -1):
                piece = prefix + word[start:end]
                found = piece in self.pieces
                if tries is not None:
                    tries.append(Try(start, end, piece, found))
                if found:
                    break
            else:
                return [(0, length, UNK)], Unknown("no_piece", start)
            pieces.append((start, end, piece))
            start = end
        return pieces, None

    def __getstate__(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name not in ("_known_words", "_fast")}

    def decode(self, ids: Iterable[int], skip_special: bool = False) -> str:
        """Tokens put together again: `##` pieces joined to what precedes them, a space between all others.

        What cleaning, case and spacing removed does not come back. Raises ValueError for an id outside the vocabulary.
        """
        tokens = []
        for number in map(int, ids):
            if not 0 <= number < self.vocab_size:
                raise ValueError(f"id {number} is outside the vocabulary of {self.vocab_size}")
            if not (skip_special and number in self.special_ids):
                tokens.append(self.vocab[number])
        return " ".join(tokens).replace(" ##", "")

    # ---- bulk, files ----

    def fast(self) -> tokenizers.Tokenizer:
        """The same tokenizer in Rust. Built once and shared: do not turn on its truncation or padding."""
        return self._fast

    @cached_property
    def _fast(self) -> tokenizers.Tokenizer:
        model = models.WordPiece(self.pieces, unk_token=UNK, max_input_chars_per_word=self.max_word_chars)
        fast = tokenizers.Tokenizer(model)
        fast.normalizer = normalizers.BertNormalizer(
            clean_text=self.clean_text,
            handle_chinese_chars=self.chinese_chars,
            strip_accents=None if self.strip_accents == self.lowercase else self.strip_accents,
            lowercase=self.lowercase,
        )
        fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        fast.decoder = decoders.WordPiece(prefix="##")
        fast.post_processor = processors.TemplateProcessing(
            single=f"{CLS} $A {SEP}",
            pair=f"{CLS} $A {SEP} $B:1 {SEP}:1",
            special_tokens=[(CLS, self.cls_id), (SEP, self.sep_id)],
        )
        add_tokens(fast, self.added_tokens.values())
        return fast

    def encode_bulk(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids of many texts, without [CLS] and [SEP], through `fast()`."""
        return [one.ids for one in self.fast().encode_batch_fast(list(texts), add_special_tokens=False)]

    def encode_bulk_with_offsets(self, texts: Iterable[str]) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """As `encode_bulk`, with each token's place in its text (start and end, in characters)."""
        return [(one.ids, one.offsets) for one in self.fast().encode_batch(list(texts), add_special_tokens=False)]

    @classmethod
    def from_file(cls, path, lowercase: bool = True, **options) -> Tokenizer:
        """Read a vocab.txt or tokenizer.json. Raises ValueError naming the file, and the line where one is at fault."""
        vocab = read_vocab(path)
        try:
            return cls(vocab, lowercase=lowercase, **options)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def from_directory(cls, directory: str | Path) -> Tokenizer:
        """Read tokenizer.json, or vocab.txt where there is none; and, if they are there, what the files beside it say
        (`text/tokenizer_files.py`) and the number of rows in config.json.

        Raises ValueError for files that cannot be read and for those that ask for another algorithm.
        """
        directory = Path(directory)
        config, described = tokenizer_config(directory, NAMED), described_tokenizer(directory)
        name = config.get("tokenizer_class", SAME_ALGORITHM[0]).removesuffix("Fast")
        if name not in (*SAME_ALGORITHM, *GENERIC):
            raise ValueError(
                f"{directory / 'tokenizer_config.json'}: tokenizer_class is {name}; this tokenizer only does "
                f"{SAME_ALGORITHM[0]}"
            )
        check_parts(directory, described, PARTS)
        try:
            options = bert_options(described)
        except ValueError as error:
            raise ValueError(f"{directory / 'tokenizer.json'}: {error}") from None
        generic = bool(described) and name in GENERIC
        if not generic:  # the arguments of a class of its own count more
            options |= {ours: config[theirs] for theirs, ours in ARGUMENTS.items() if theirs in config}
            options["max_word_chars"] = config.get("max_input_chars_per_word", LONGEST_WORD)
        tokens = stored_tokens(directory, config, described)
        model_config = directory / "config.json"
        rows = json_object(model_config).get("vocab_size") if model_config.is_file() else 0
        rows = rows if isinstance(rows, int) else 0
        file = directory / ("tokenizer.json" if described else "vocab.txt")
        vocab = described_vocab(described, file) if described else read_vocab(file)
        try:
            tokenizer = cls(vocab, **options, added_tokens=[token for token, _ in tokens.values()], rows=rows)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        check_ids(directory, tokens, tokenizer.ids)
        if generic:
            tokenizer.check_template(directory, described.get("post_processor"))
        if rows and tokenizer.vocab_size > rows:
            raise ValueError(f"{directory}: {tokenizer.vocab_size:,} tokens for a model of {rows:,} rows")
        return tokenizer

    def check_template(self, directory: Path, post_processor: Any) -> None:
        """Raise ValueError where a tokenizer.json puts special tokens elsewhere than this tokenizer does."""
        known = json_value(self._fast.post_processor.__getstate__())
        stored = post_processor if isinstance(post_processor, dict) else {}
        same = all(stored.get(part) == known.get(part) for part in ("type", "single", "pair", "sep", "cls"))
        as_bert = {"type": "BertProcessing", "sep": [SEP, self.sep_id], "cls": [CLS, self.cls_id]}
        if not same and stored != as_bert:
            raise ValueError(
                f"{directory / 'tokenizer.json'}: its post_processor, {short(post_processor)}, does not put special "
                "tokens where this tokenizer does"
            )

    def save(self, directory: str | Path) -> None:
        """Write vocab.txt, tokenizer_config.json, special_tokens_map.json and tokenizer.json, each whole or not at all.

        `from_directory` and `transformers.AutoTokenizer` read them and give the same ids.
        """
        usual = self.clean_text and self.max_word_chars == LONGEST_WORD
        extra = {"extra_special_tokens": [token for token in self.special_tokens if token not in SPECIAL_TOKENS]}
        config = {
            # BERT's own class always cleans and has one limit; the generic one does what tokenizer.json says
            "tokenizer_class": SAME_ALGORITHM[0] if usual else GENERIC[-1],
            "do_lower_case": self.lowercase,
            "strip_accents": None if self.strip_accents == self.lowercase else self.strip_accents,
            "tokenize_chinese_chars": self.chinese_chars,
            "max_input_chars_per_word": self.max_word_chars,
            **NAMED,
            **extra,
        }
        files = {
            "vocab.txt": "".join(piece + "\n" for piece in self.pieces),
            "tokenizer_config.json": json.dumps(config, indent=2, ensure_ascii=False) + "\n",
            "special_tokens_map.json": json.dumps({**NAMED, **extra}, indent=2, ensure_ascii=False) + "\n",
            "tokenizer.json": self.fast().to_str(pretty=True) + "\n",
        }
        write_files(Path(directory), files)


def write_files(directory: Path, files: Mapping[str, str]) -> None:
    """Write texts by file name, each whole or not at all."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        unfinished = directory / f".{name}.unfinished"
        unfinished.write_bytes(text.encode())
        os.replace(unfinished, directory / name)


def add_tokens(fast: tokenizers.Tokenizer, tokens: Iterable[AddedToken]) -> None:
    """Add them in their order, which their ids follow."""
    for token in tokens:
        (fast.add_special_tokens if token.special else fast.add_tokens)([token])
