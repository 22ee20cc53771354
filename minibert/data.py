"""Text files → documents → token store → pairs of segments → batches for pre-training."""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.model import Batch
from minibert.tokenizer import Tokenizer

OPENERS = {".gz": gzip.open, ".xz": lzma.open}
TEXT_NAMES = (".txt", ".txt.gz", ".txt.xz")
# An end of sentence: . ! ? … (with closing quotes or brackets) before a space, or the Chinese marks, which need none.
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\sa-z])|(?<=[。！？])(?![”’」』）])")
ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Prof|Gen|Col|Lt|Capt|Sgt|Rev|Jr|Sr|vs|etc|No|Vol|pp|cf|e\.g|i\.e))\.$"
)


class DataError(ValueError):
    """Data that cannot be used; the message names the file and what to do."""


def text_files(paths: Sequence[str | Path]) -> list[Path]:
    """The files named, and in folders every .txt, .txt.gz and .txt.xz, sorted. Raises DataError if one is not there."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.name.endswith(TEXT_NAMES))
            if not inside:
                raise DataError(f"{path} holds no {', '.join(TEXT_NAMES)} file")
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise DataError(f"{path} does not exist")
    return files


def read_documents(paths: Sequence[str | Path]) -> Iterator[list[str]]:
    """Documents as lists of lines, a document per blank-line block. Plain, .gz and .xz files and folders of them.

    Raises DataError with file and line where a file is not UTF-8, looks binary (a NUL byte) or is damaged.
    """
    for file in text_files(paths):
        document: list[str] = []
        try:
            with OPENERS.get(file.suffix, open)(file, "rb") as lines:
                for number, raw in enumerate(lines, 1):
                    try:
                        line = raw.decode("utf-8").strip()
                    except UnicodeDecodeError as error:
                        raise DataError(f"{file}, line {number}: not UTF-8 ({error.reason})") from error
                    if "\0" in line:
                        raise DataError(f"{file}, line {number}: a NUL byte; this looks like a binary file")
                    if line:
                        document.append(line)
                    elif document:
                        yield document
                        document = []
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise DataError(f"{file} cannot be read: {error}") from error
        if document:
            yield document


def split_sentences(line: str) -> list[str]:
    """A paragraph → its sentences, by end marks; common abbreviations and initials do not end one."""
    sentences: list[str] = []
    start = 0
    for end in SENTENCE_END.finditer(line):
        if not ABBREVIATION.search(line[start : end.start()]):
            sentences.append(line[start : end.end()].strip())
            start = end.end()
    sentences.append(line[start:].strip())
    return [sentence for sentence in sentences if sentence]


@dataclass(frozen=True)
class TokenStore:
    """Tokenized documents in three flat arrays: sentence i is ids[sentences[i]:sentences[i+1]], document d is the
    sentences documents[d] to documents[d+1]."""

    ids: np.ndarray  # (tokens,) uint16 or int32
    sentences: np.ndarray  # (sentences + 1,) int64
    documents: np.ndarray  # (documents + 1,) int64

    @classmethod
    def build(cls, documents: Iterable[list[str]], tokenizer: Tokenizer, chunk: int = 2000) -> TokenStore:
        """Split every line into sentences and tokenize in bulk. Raises DataError if no token comes out."""
        kind = np.uint16 if tokenizer.vocab_size <= 2**16 else np.int32
        ids: list[np.ndarray] = []
        lengths: list[int] = []
        ends = [0]
        pending: list[str] = []

        def flush():
            for encoded in tokenizer.encode_bulk(pending):
                ids.append(np.array(encoded, dtype=kind))
                lengths.append(len(encoded))
            pending.clear()

        for document in documents:
            pending += [sentence for line in document for sentence in split_sentences(line)]
            ends.append(len(lengths) + len(pending))
            if len(pending) >= chunk:
                flush()
        flush()
        if not sum(lengths):
            raise DataError("the data holds no text")
        return cls(np.concatenate(ids), np.concatenate([[0], np.cumsum(lengths)]), np.array(ends))

    def __len__(self) -> int:
        return len(self.documents) - 1

    def document(self, index: int, start: int = 0) -> Iterator[list[int]]:
        """The sentences of one document from sentence `start` on, as ids; sentences without a token are left out."""
        first, last = self.documents[index] + start, self.documents[index + 1]
        for a, b in pairwise(self.sentences[first : last + 1]):
            if b > a:
                yield self.ids[a:b].tolist()

    def elsewhere(self, index: int, rng: np.random.Generator) -> Iterator[list[int]]:
        """The sentences of another document than `index`, drawn evenly, from a random one on."""
        if len(self) < 2:
            return iter(())
        other = (index + int(rng.integers(1, len(self)))) % len(self)
        return self.document(other, int(rng.integers(self.documents[other + 1] - self.documents[other])))


@dataclass(frozen=True)
class SegmentPair:
    """[CLS] a [SEP] b [SEP] to be. next_label: 0 if b follows a in its document, 1 if it is from elsewhere."""

    a: list[int]
    b: list[int]
    next_label: int


def sentence_pairs(
    document: Sequence[list[int]],
    elsewhere: Callable[[], Iterator[list[int]]],
    max_length: int,
    rng: np.random.Generator,
    short_probability: float = 0.1,
    watch: Callable[[int, list[list[int]], int, list[int]], None] | None = None,
) -> list[SegmentPair]:
    """All pairs of one document, as `create_instances_from_document` of the paper's code makes them.

    document: sentences as ids · elsewhere(): sentences of another document, from a random one on; the random B's ·
    max_length counts [CLS] and both [SEP] · with `short_probability` (drawn once a document) a shorter length is aimed
    for. A chunk of one sentence always gets a random B, so short documents give more than half of them.
    watch(target, chunk, end_of_a, b): told of each pair before it is cut to length.
    """
    budget = max_length - 3
    target = int(rng.integers(2, budget + 1)) if rng.random() < short_probability else budget
    pairs: list[SegmentPair] = []
    chunk: list[list[int]] = []
    length = i = 0
    while i < len(document):
        chunk.append(document[i])
        length += len(document[i])
        if i == len(document) - 1 or length >= target:
            end_of_a = int(rng.integers(1, len(chunk))) if len(chunk) > 1 else 1
            a = [token for sentence in chunk[:end_of_a] for token in sentence]
            b: list[int] = []
            random_next = len(chunk) == 1 or rng.random() < 0.5
            if random_next:
                for sentence in elsewhere():
                    b += sentence
                    if len(b) >= target - len(a):
                        break
                i -= len(chunk) - end_of_a  # the sentences not used are put back
            else:
                b = [token for sentence in chunk[end_of_a:] for token in sentence]
            if a and b:
                if watch is not None:
                    watch(target, chunk, end_of_a, b)
                a, b = truncate_pair(a, b, budget, rng)
                pairs.append(SegmentPair(a, b, int(random_next)))
            chunk, length = [], 0
        i += 1
    return pairs


def truncate_pair(a: list[int], b: list[int], budget: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Cut the longer of the two, a token at a time, from a random end, until both fit."""
    cut = {0: [0, 0], 1: [0, 0]}  # tokens to drop from the front and the back of each
    lengths = [len(a), len(b)]
    while sum(lengths) > budget:
        longer = 0 if lengths[0] > lengths[1] else 1
        cut[longer][int(rng.random() >= 0.5)] += 1
        lengths[longer] -= 1
    return a[cut[0][0] : len(a) - cut[0][1]], b[cut[1][0] : len(b) - cut[1][1]]


def assemble(pairs: Sequence[SegmentPair], tokenizer: Tokenizer) -> tuple[Batch, torch.Tensor]:
    """[CLS] a [SEP] b [SEP], padded to the longest → (batch with next_labels, special (B, T) bool).

    `padding` is None where all rows are equally long: attention is faster without a mask.
    """
    rows = [[tokenizer.cls_id, *p.a, tokenizer.sep_id, *p.b, tokenizer.sep_id] for p in pairs]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [tokenizer.pad_id] * (longest - len(row)) for row in rows])
    lengths = torch.tensor([[len(row)] for row in rows])
    ends_of_a = torch.tensor([[len(pair.a) + 2] for pair in pairs])
    position = torch.arange(longest)
    padding = position < lengths
    special = (position == 0) | (position == ends_of_a - 1) | (position >= lengths - 1)
    batch = Batch(
        ids,
        segments=((position >= ends_of_a) & padding).long(),
        padding=None if padding.all() else padding,
        next_labels=torch.tensor([pair.next_label for pair in pairs]),
    )
    return batch, special


@dataclass(frozen=True)
class Masking:
    """How `pretraining_batches` hides tokens; the paper's values by default. static: masks drawn once per pass and
    repeated in every epoch, as in the paper's code; otherwise drawn anew each time (Liu et al. 2019, §4.1)."""

    rate: float = 0.15
    split: tuple[float, float, float] = (0.8, 0.1, 0.1)
    whole_words: bool = False
    static: bool = False


def pretraining_batches(
    store: TokenStore,
    tokenizer: Tokenizer,
    *,
    batch_size: int,
    max_length: int,
    seed: int,
    masking: Masking | None = None,
    epochs: int | None = None,
) -> Iterator[Batch]:
    """Batches for MLM + NSP, epoch after epoch (for ever if `epochs` is None), documents and pairs shuffled.

    Pairs of like length share a batch, so little is padded; which batch comes next stays random.
    """
    masking = masking or Masking()
    vocab = MaskVocabulary.of(tokenizer)
    epoch = 0
    while epochs is None or epoch < epochs:
        pass_seed = 0 if masking.static else epoch
        order = np.random.default_rng([seed, pass_seed, 0])
        noise = torch.Generator().manual_seed(int(order.integers(2**62)))
        for pairs in pools(pairs_of(store, max_length, order), batch_size * 256):
            # Shuffled before sorting, which keeps the order of equals: else a batch would be a single document.
            pairs = [pairs[i] for i in order.permutation(len(pairs))]
            pairs.sort(key=lambda pair: len(pair.a) + len(pair.b))
            groups = [pairs[i : i + batch_size] for i in range(0, len(pairs), batch_size)]
            for group in order.permutation(len(groups)):
                batch, special = assemble(groups[group], tokenizer)
                ids, labels = mask_tokens(
                    batch.ids, special, vocab, noise, masking.rate, masking.split, masking.whole_words
                )
                yield Batch(ids, batch.segments, batch.padding, labels, batch.next_labels)
        epoch += 1


def pairs_of(store: TokenStore, max_length: int, rng: np.random.Generator) -> Iterator[SegmentPair]:
    """Pairs of every document once, documents in random order; a random B comes from another document."""
    for index in rng.permutation(len(store)):
        yield from sentence_pairs(list(store.document(index)), partial(store.elsewhere, index, rng), max_length, rng)


def pools(pairs: Iterator[SegmentPair], size: int) -> Iterator[list[SegmentPair]]:
    """Lists of `size` pairs; the last may be shorter."""
    pool: list[SegmentPair] = []
    for pair in pairs:
        pool.append(pair)
        if len(pool) == size:
            yield pool
            pool = []
    if pool:
        yield pool
