"""The text that all arms of an experiment read, tokenized once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from minibert.checkpoint import load_tokenizer, writing
from minibert.pretrain import learn_tokenizer
from minibert.text.documents import read_documents, text_files
from minibert.text.store import TokenStore, cached_store
from minibert.tokenizer import Tokenizer
from minibert.toy.pretrain import WordQuestion

CORPUS = ("reviews-00.txt.xz", "wiki-00.txt.xz")  # in pretrain/en of the data: close to SST-2, and to the news tasks


@dataclass(frozen=True)
class Corpus:
    """The text of all arms, tokenized once; `heldout` is never trained on and may be None. questions: about the
    determined words, if it is text of the toy world · one_sided: those of them that one side alone decides, as many of
    each, with "before" or "after" as their kind."""

    tokenizer: Tokenizer
    store: TokenStore
    heldout: TokenStore | None
    files: tuple[str, ...]
    questions: tuple[WordQuestion, ...] = ()
    one_sided: tuple[WordQuestion, ...] = ()


def prepare(
    data: Sequence[str | Path], vocab_size: int, *, heldout: str | Path | None = None, cache: str | Path | None = None
) -> Corpus:
    """Learn a vocabulary from `data` and tokenize it; `cache` keeps both, by the files' names, sizes and dates."""
    files = text_files(data)
    if cache is None:
        tokenizer = learn_tokenizer(files, vocab_size)
        store = TokenStore.build(read_documents(files), tokenizer)
    else:
        facts = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        key = hashlib.sha256(json.dumps([facts, vocab_size]).encode()).hexdigest()[:16]
        learned = Path(cache) / f"vocab-{key}"
        if not learned.is_dir():
            with writing(learned) as folder:
                learn_tokenizer(files, vocab_size).save(folder)
        tokenizer = load_tokenizer(learned)
        store, _ = cached_store(files, tokenizer, cache)
    held = TokenStore.build(read_documents([heldout]), tokenizer) if heldout else None
    return Corpus(tokenizer, store, held, tuple(file.name for file in files))
