"""The rows a model reads for one example, token by token: its segment, what is asked there, what was cut or filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from minibert.tokenizer import Tokenizer

START, END = "S", "E"
LATER, ELSEWHERE = "–", "↔"  # a later piece of a word; a word that another window is asked for


@dataclass(frozen=True)
class InputRow:
    """Parallel lists, one entry a token that is read or was cut; then `padding` times [PAD].

    asked: what the loss is told at the token: a tag, S, E, the class at [CLS] (where the new layer reads that), or "" ·
    cut: True for a token that did not fit · tokens_of: the passage or the words that the row holds, (first, after the
    last, of all), where there are windows · right: for choices, whether it is the one; None if that is unknown.
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    asked: tuple[str, ...]
    cut: tuple[bool, ...]
    padding: int = 0
    tokens_of: tuple[int, int, int] | None = None
    right: bool | None = None

    @property
    def length(self) -> int:
        """Tokens that are read, without padding."""
        return len(self.ids) - sum(self.cut)


def row_of(tokenizer: Tokenizer, ids: Sequence[int], segments: Sequence[int], asked: Sequence[str] = ()) -> InputRow:
    tokens = tuple(tokenizer.vocab[i] for i in ids)
    return InputRow(tokens, tuple(ids), tuple(segments), tuple(asked) or ("",) * len(ids), (False,) * len(ids))


def with_cut(tokenizer: Tokenizer, row: InputRow, at: int, lost: Sequence[int], segment: int) -> InputRow:
    """The row with tokens that did not fit shown where they would stand."""
    new = replace(row_of(tokenizer, lost, [segment] * len(lost)), cut=(True,) * len(lost))
    parts = {
        name: (*getattr(row, name)[:at], *getattr(new, name), *getattr(row, name)[at:])
        for name in ("tokens", "ids", "segments", "asked", "cut")
    }
    return replace(row, **parts)
