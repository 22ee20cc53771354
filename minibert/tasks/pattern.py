"""A pattern and its words: how a task becomes a cloze (Schick and Schütze 2021, §3). Needs no torch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from minibert.text.truncation import keep
from minibert.tokenizer import CLS, MASK, SEP, Tokenizer

TEXT, SECOND = "{text}", "{second}"
HOLES = {TEXT: 0, SECOND: 1}
PARTS = re.compile(r"(\{text\}|\{second\}|\[MASK\]|\[unused\d+\])")
IN_BRACES = re.compile(r"\{\w*\}")
MOST_WORDS = 20  # words per label


class PatternError(ValueError):
    """A pattern or word that cannot be used; the message says why."""


@dataclass(frozen=True)
class Pattern:
    """The words around the text, and the blank. parts: in order, each "{text}", "{second}", "[MASK]", "[unused3]" or
    words."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, pattern: str, texts: int = 1) -> Pattern:
        """Parse a pattern. texts: how many it must contain, 1 or 2. Raises PatternError."""
        holes = list(HOLES)[:texts]
        for needed in (*holes, MASK):
            if (count := pattern.count(needed)) != 1:
                raise PatternError(
                    f"the pattern {pattern!r} must have {needed} exactly once, not {count} times: it is like "
                    f"{' '.join(holes)} It was {MASK}."
                )
        for found in IN_BRACES.findall(pattern):
            if found not in holes:
                raise PatternError(f"the pattern {pattern!r} has {found}; what it can have is {', '.join(holes)}")
        for special in (CLS, SEP):
            if special in pattern:
                raise PatternError(f"{special} stands around the pattern by itself: leave it out of {pattern!r}")
        return cls(tuple(part for part in PARTS.split(pattern) if part.strip()))

    @property
    def prompt(self) -> tuple[str, ...]:
        """The tokens to be learned, [unused1] …, in order, each once."""
        return tuple(dict.fromkeys(part for part in self.parts if part.startswith("[unused")))

    def pieces(self, tokenizer: Tokenizer) -> list[list[int] | int]:
        """For each part its ids, or the index of the text that belongs there. Raises PatternError."""
        known = tokenizer.encode_bulk([part for part in self.parts if not PARTS.fullmatch(part)])
        words = iter(known)
        found: list[list[int] | int] = []
        for part in self.parts:
            if part in HOLES:
                found.append(HOLES[part])
            elif PARTS.fullmatch(part):
                if part not in tokenizer.ids:
                    raise PatternError(f"the vocabulary has no {part}")
                found.append([tokenizer.ids[part]])
            else:
                found.append(next(words))
        return found

    def length(self, tokenizer: Tokenizer) -> int:
        """Number of tokens without any text: the pattern's own, [CLS] and [SEP]."""
        return 2 + sum(len(piece) for piece in self.pieces(tokenizer) if isinstance(piece, list))


@dataclass(frozen=True)
class ClozeRow:
    """A row of input: [CLS] pattern with its texts [SEP]. blank: position of [MASK] · lost: (position, ids) of the
    pieces truncated from a text, in order."""

    ids: list[int]
    blank: int
    lost: list[tuple[int, list[int]]]


def cloze(
    tokenizer: Tokenizer,
    pieces: Sequence[list[int] | int],
    texts: Sequence[Sequence[int]],
    max_length: int,
    truncation: str = "longest_first",
    budgets: Sequence[int] | None = None,
) -> ClozeRow:
    """Insert texts into the pattern and truncate only the texts, never the pattern or the blank.

    pieces: from `Pattern.pieces` · texts: ids of each; special tokens in them become [UNK], since a second [MASK] would
    be another question.
    """
    room = max_length - 2 - sum(len(piece) for piece in pieces if isinstance(piece, list))
    if room < 1:
        raise PatternError(f"the pattern takes {max_length - room} tokens and leaves no room for a text: {max_length}")
    texts = [[tokenizer.unk_id if i in tokenizer.special_ids else i for i in text] for text in texts]
    kept_places = keep([len(text) for text in texts], room, truncation, budgets)
    ids, blank = [tokenizer.cls_id], 0
    lost: list[tuple[int, list[int]]] = []
    for piece in pieces:
        if isinstance(piece, int):
            stays, text = set(kept_places[piece]), texts[piece]
            for place, token in enumerate(text):
                if place in stays:
                    ids.append(token)
                elif lost and lost[-1][0] == len(ids):
                    lost[-1][1].append(token)
                else:
                    lost.append((len(ids), [token]))
        else:
            if piece == [tokenizer.mask_id]:
                blank = len(ids)
            ids += piece
    return ClozeRow([*ids, tokenizer.sep_id], blank, lost)


def word_ids(
    tokenizer: Tokenizer, words: Mapping[str, Sequence[str]], labels: Sequence[str] | None = None
) -> dict[str, list[int]]:
    """The verbalizer: for each label the ids of its words, one piece each. labels: those that must have words; other
    labels are left out. Raises PatternError."""
    labels = list(words) if labels is None else list(labels)
    found: dict[str, list[int]] = {}
    for label in labels:
        if not words.get(label):
            raise PatternError(f"the label {label!r} has no word: give it one, as {label}=word")
        if len(words[label]) > MOST_WORDS:
            raise PatternError(f"the label {label!r} has {len(words[label])} words; at most {MOST_WORDS} are read")
        found[label] = [one_piece(tokenizer, word) for word in words[label]]
    label_of: dict[int, str] = {}
    for label, ids in found.items():
        for number in ids:
            if number in label_of:
                both = ", ".join(repr(one) for one in dict.fromkeys((label_of[number], label)))
                raise PatternError(f"the word {tokenizer.vocab[number]!r} stands twice, for {both}: once is enough")
            label_of[number] = label
    return found


def one_piece(tokenizer: Tokenizer, word: str) -> int:
    """The id of a word that is one piece. Raises PatternError, which shows the pieces otherwise."""
    (ids,) = tokenizer.encode_bulk([word])
    if len(ids) == 1 and ids[0] not in tokenizer.special_ids:
        return ids[0]
    read = " ".join(tokenizer.vocab[i] for i in ids) or "nothing"
    raise PatternError(f"the word {word!r} is no single piece of this vocabulary, which reads {read}: choose another")


def with_prompt_tokens(tokenizer: Tokenizer, pattern: str) -> list[str]:
    """The [unused…] tokens of a pattern that the vocabulary lacks, as vocabularies trained here do."""
    return [part for part in dict.fromkeys(PARTS.findall(pattern)) if part[1] == "u" and part not in tokenizer.ids]
