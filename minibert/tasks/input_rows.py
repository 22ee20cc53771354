"""The input rows of one example for display, token by token: segment, target, what was cut or padded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from minibert.tokenizer import Tokenizer

START, END = "S", "E"
LATER, ELSEWHERE = "–", "↔"  # a later piece of a word; a word that another window tags


@dataclass(frozen=True)
class InputRow:
    """Parallel lists, one entry per token that is read or was cut, followed by `padding` times [PAD].

    targets: the token's tag, S, E, the class at [CLS] (if the new layer reads that), or "" · cut: True for a token that
    did not fit · tokens_of: which passage tokens or words a window holds, (first, after the last, total) ·
    right: whether this is the right choice; None if unknown, or for other tasks.
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    targets: tuple[str, ...]
    cut: tuple[bool, ...]
    padding: int = 0
    tokens_of: tuple[int, int, int] | None = None
    right: bool | None = None

    @property
    def length(self) -> int:
        """Tokens that are read, without padding."""
        return len(self.ids) - sum(self.cut)


def row_of(tokenizer: Tokenizer, ids: Sequence[int], segments: Sequence[int], targets: Sequence[str] = ()) -> InputRow:
    tokens = tuple(tokenizer.vocab[i] for i in ids)
    return InputRow(tokens, tuple(ids), tuple(segments), tuple(targets) or ("",) * len(ids), (False,) * len(ids))


def with_cut(tokenizer: Tokenizer, row: InputRow, at: int, lost: Sequence[int], segment: int) -> InputRow:
    """The row with tokens that did not fit shown where they would stand."""
    new = replace(row_of(tokenizer, lost, [segment] * len(lost)), cut=(True,) * len(lost))
    parts: dict[str, Any] = {
        name: (*getattr(row, name)[:at], *getattr(new, name), *getattr(row, name)[at:])
        for name in ("tokens", "ids", "segments", "targets", "cut")
    }
    return replace(row, **parts)
