"""The text that all arms of an experiment read, tokenized once."""

from __future__ import annotations

from dataclasses import dataclass

from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.toy.pretrain import WordQuestion


@dataclass(frozen=True)
class Corpus:
    """The text of all arms, tokenized once; `heldout` is never trained on. questions: about the determined words ·
    one_sided: those of them that one side alone decides, as many of each, with "before" or "after" as their kind."""

    tokenizer: Tokenizer
    store: TokenStore
    heldout: TokenStore
    files: tuple[str, ...]
    questions: tuple[WordQuestion, ...]
    one_sided: tuple[WordQuestion, ...]
