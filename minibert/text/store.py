"""Tokenized documents on disk: built once, in parallel, and read through memory maps, so memory does not grow with
the text."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from minibert.text.documents import DataError, read_documents, split_sentences, text_files
from minibert.text.json_values import json_object, json_value
from minibert.tokenizer import Tokenizer

CHUNK = 1 << 20  # characters of text that are tokenized at a time
JOINED = 1 << 30  # flag in the id of a token that continues the word of the token before, according to a segmenter
FORMAT = 3
WORD_SEGMENTERS = ("none", "jieba")


@dataclass(frozen=True)
class TokenStore:
    """Documents in three flat arrays: sentence i is ids[sentences[i]:sentences[i+1]], document d is the sentences
    documents[d] to documents[d+1]. Where words were segmented, the top bit of an id says that its token continues a
    word (`plain` is without it). Equal stores give equal batches, whether their arrays are in memory or mapped."""

    ids: np.ndarray  # (tokens,) uint16 or uint32
    sentences: np.ndarray  # (sentences + 1,) int64
    documents: np.ndarray  # (documents + 1,) int64
    segmented: bool = False

    @classmethod
    def build(
        cls,
        documents: Iterable[list[str]],
        tokenizer: Tokenizer,
        directory: str | Path | None = None,
        *,
        words: str = "none",
        processes: int = 1,
    ) -> TokenStore:
        """Split every line into sentences and tokenize, in `processes` parallel processes. With a `directory` the
        arrays are written there (whole or not at all) and mapped; without, they stay in memory.

        words: "jieba" marks which Chinese characters make a word. Raises DataError if no token comes out.
        """
        if words not in WORD_SEGMENTERS:
            raise ValueError(f"words must be one of {', '.join(WORD_SEGMENTERS)}, not {words!r}")
        with folder_for(directory) as folder:
            tokens = sentences = documents_seen = 0
            with (
                open(folder / "ids", "wb") as ids,
                open(folder / "sentences", "wb") as ends,
                open(folder / "documents", "wb") as groups,
            ):
                ends.write(np.int64(0).tobytes())
                groups.write(np.int64(0).tobytes())
                for encoded in encode_all(chunks(documents), tokenizer, words, processes):
                    ids.write(encoded.ids.tobytes())
                    ends.write((tokens + np.cumsum(encoded.lengths, dtype=np.int64)).tobytes())
                    groups.write((sentences + np.cumsum(encoded.documents, dtype=np.int64)).tobytes())
                    tokens += len(encoded.ids)
                    sentences += len(encoded.lengths)
                    documents_seen += len(encoded.documents)
            if not tokens:
                raise DataError("the data holds no text")
            meta = {"format": FORMAT, "type": id_type(tokenizer, words).__name__, "segmented": words != "none"}
            meta |= {"tokens": tokens, "sentences": sentences, "documents": documents_seen}
            (folder / "store.json").write_text(json.dumps(meta, indent=1), encoding="utf-8")
            if directory is None:
                return cls.open(folder, mapped=False)
        return cls.open(directory)

    @classmethod
    def open(cls, directory: str | Path, *, mapped: bool = True) -> TokenStore:
        """The store in `directory`. Raises DataError if there is none, or one of another version."""
        directory = Path(directory)
        try:
            if (meta := json_object(directory / "store.json"))["format"] != FORMAT:
                raise ValueError("it was written by another version: delete it")
            if meta["type"] not in ("uint16", "uint32"):
                raise ValueError("its ids are of no type that it has")
            kinds = {"ids": np.dtype(meta["type"]), "sentences": np.dtype(np.int64), "documents": np.dtype(np.int64)}
            read = partial(np.memmap, mode="r") if mapped else np.fromfile
            arrays: list[np.ndarray] = [read(directory / name, dtype=kind) for name, kind in kinds.items()]
            lengths = [meta["tokens"], meta["sentences"] + 1, meta["documents"] + 1]
            if [len(array) for array in arrays] != lengths or not isinstance(meta["segmented"], bool):
                raise ValueError("its arrays are not what store.json says")
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{directory} holds no token store: {error}") from error
        ids, sentences, documents = arrays
        return cls(ids, sentences, documents, meta["segmented"])

    def __len__(self) -> int:
        return len(self.documents) - 1

    def plain(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Ids `start` to `stop`, without the mark of continued words. (tokens,) int64."""
        ids = self.ids[start:stop].astype(np.int64)
        return ids & (self.top_bit - 1) if self.segmented else ids

    @property
    def top_bit(self) -> int:
        return 1 << (8 * self.ids.itemsize - 1)

    def document(self, index: int, start: int = 0) -> Iterator[list[int]]:
        """The sentences of one document from sentence `start` on, as ids (plus JOINED where a token continues a word);
        sentences without a token are left out."""
        first, last = self.documents[index] + start, self.documents[index + 1]
        for a, b in pairwise(self.sentences[first : last + 1].tolist()):
            if b > a:
                yield self.row(a, b)

    def row(self, start: int, stop: int) -> list[int]:
        ids = self.ids[start:stop]
        if not self.segmented:
            return ids.tolist()
        ids = ids.astype(np.int64)
        return np.where(ids & self.top_bit, (ids & (self.top_bit - 1)) | JOINED, ids).tolist()

    def elsewhere(self, index: int, rng: np.random.Generator) -> Iterator[list[int]]:
        """The sentences of a random document other than `index`, from a random sentence on."""
        if len(self) < 2:
            return iter(())
        other = (index + int(rng.integers(1, len(self)))) % len(self)
        return self.document(other, int(rng.integers(self.documents[other + 1] - self.documents[other])))


@contextmanager
def folder_for(directory: str | Path | None) -> Iterator[Path]:
    """A temporary folder to write to. If nothing failed, it is renamed to `directory`, if given; else it is removed."""
    beside = Path(directory).parent if directory is not None else None
    if beside is not None:
        beside.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".tokens-", dir=beside))
    try:
        yield folder
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)
            os.replace(folder, directory)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def id_type(tokenizer: Tokenizer, words: str) -> type[np.unsignedinteger]:
    """The smallest type for an id, with a bit to spare where words are marked."""
    return np.uint16 if tokenizer.vocab_size <= (2**16 if words == "none" else 2**15) else np.uint32


def chunks(documents: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Documents in groups of about CHUNK characters."""
    group: list[list[str]] = []
    size = 0
    for document in documents:
        group.append(document)
        size += sum(map(len, document))
        if size >= CHUNK:
            yield group
            group, size = [], 0
    if group:
        yield group


@dataclass(frozen=True)
class Encoded:
    """A chunk: ids (tokens,), tokens of each sentence, sentences of each document."""

    ids: np.ndarray
    lengths: list[int]
    documents: list[int]


def encode(documents: list[list[str]], tokenizer: Tokenizer, words: str) -> Encoded:
    kind = id_type(tokenizer, words)
    sentences = [[sentence for line in document for sentence in split_sentences(line)] for document in documents]
    flat = [sentence for document in sentences for sentence in document]
    if words == "none":
        rows = tokenizer.encode_bulk(flat)
    else:
        rows = [
            mark_words(ids, offsets, text, kind)
            for (ids, offsets), text in zip(tokenizer.encode_bulk_with_offsets(flat), flat, strict=True)
        ]
    ids = np.concatenate([np.array(row, dtype=kind) for row in rows]) if rows else np.zeros(0, kind)
    return Encoded(ids, [len(row) for row in rows], [len(document) for document in sentences])


def mark_words(ids: list[int], offsets: list[tuple[int, int]], text: str, kind: type) -> list[int]:
    """`ids` with the top bit of `kind` set where a token does not begin a word of the segmenter."""
    top_bit = 1 << (8 * np.dtype(kind).itemsize - 1)
    return [i | top_bit if goes_on else i for i, goes_on in zip(ids, continued(offsets, text), strict=True)]


def continued(offsets: Sequence[tuple[int, int]], text: str) -> list[bool]:
    """Whether each token, given its offsets in `text`, continues a word of the segmenter. Chinese tokens are single
    characters, so nothing else shows the words."""
    import jieba  # its dictionary takes a second to load, and only Chinese needs it

    starts = set()
    position = 0
    for word in jieba.cut(text):
        starts.add(position)
        position += len(word)
    return [start not in starts for start, _end in offsets]


def encode_all(
    groups: Iterable[list[list[str]]], tokenizer: Tokenizer, words: str, processes: int
) -> Iterator[Encoded]:
    """Encode the groups, in order; about two groups per process are in memory."""
    if processes <= 1:
        for group in groups:
            yield encode(group, tokenizer, words)
        return
    with ProcessPoolExecutor(processes, get_context("spawn"), start_worker, (tokenizer, words)) as pool:
        pending: deque = deque()
        for group in groups:
            pending.append(pool.submit(encode_in_worker, group))
            if len(pending) > 2 * processes:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


_worker: dict[str, tuple[Tokenizer, str]] = {}  # set in the worker processes of a pool


def start_worker(tokenizer: Tokenizer, words: str) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the pool is the parallelism
    _worker["setup"] = (tokenizer, words)
    if words == "jieba":
        import jieba

        jieba.setLogLevel("WARNING")


def encode_in_worker(group: list[list[str]]) -> Encoded:
    tokenizer, words = _worker["setup"]
    return encode(group, tokenizer, words)


def cached_store(
    paths: Sequence[str | Path],
    tokenizer: Tokenizer,
    cache: str | Path,
    *,
    words: str = "none",
    processes: int = 1,
    progress: Callable[[str], None] = lambda message: None,
) -> tuple[TokenStore, list[str]]:
    """The store of these files and this vocabulary in the folder `cache`, built if missing, and what was skipped.

    Its key: names, sizes and times of the files, the vocabulary, its case and `words`.
    """
    files = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in text_files(paths)]
    identity = json.dumps([FORMAT, files, tokenizer.vocab, tokenizer.rules, words])
    directory = Path(cache) / hashlib.sha256(identity.encode()).hexdigest()[:24]
    notes = directory / "skipped.json"
    try:
        return TokenStore.open(directory), json_value(notes.read_bytes())
    except (OSError, ValueError):
        progress("tokenizing")
    skipped: list[str] = []
    store = TokenStore.build(read_documents(paths, skipped), tokenizer, directory, words=words, processes=processes)
    notes.write_text(json.dumps(skipped), encoding="utf-8")
    return store, skipped
