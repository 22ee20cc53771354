"""Token store → rows of the model's input → batches for pre-training, from any place on again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from minibert.corruption import MaskVocabulary, mask_tokens
from minibert.model import Batch
from minibert.text.documents import DataError
from minibert.text.store import JOINED, TokenStore
from minibert.tokenizer import Tokenizer

PAIR_FORMATS = ("segment_pair", "sentence_pair")  # the others have no second segment
FORMATS = (*PAIR_FORMATS, "full_sentences", "doc_sentences")
POOL = 256  # batches that are sorted by length together


@dataclass(frozen=True)
class SegmentPair:
    """[CLS] a [SEP] b [SEP] to be. next_label: 0 if b follows a in its document, 1 if it is from elsewhere.

    Without a b, and then without a label: [CLS] a [SEP].
    """

    a: list[int]
    b: list[int]
    next_label: int | None


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


def single_pairs(
    document: Sequence[list[int]],
    elsewhere: Callable[[], Iterator[list[int]]],
    max_length: int,
    rng: np.random.Generator,
) -> list[SegmentPair]:
    """Pairs of single sentences, half of them neighbours (SENTENCE-PAIR+NSP of Liu et al. 2019, §4.2)."""
    pairs: list[SegmentPair] = []
    i = 0
    while i < len(document):
        random_next = i == len(document) - 1 or rng.random() < 0.5
        b = next(iter(elsewhere()), []) if random_next else document[i + 1]
        if b:
            pairs.append(SegmentPair(*truncate_pair(document[i], b, max_length - 3, rng), int(random_next)))
        i += 1 if random_next else 2  # each sentence is read once, the random ones apart
    return pairs


def packed_sentences(
    documents: Iterator[Sequence[list[int]]], max_length: int, separator: int, across: bool
) -> Iterator[SegmentPair]:
    """Rows full of whole sentences, without a second segment (Liu et al. 2019, §4.2).

    across: a row goes on into the next document behind a `separator` (FULL-SENTENCES), or ends with its document
    (DOC-SENTENCES). A sentence longer than a row is cut.
    """
    budget = max_length - 2
    row: list[int] = []
    for document in documents:
        if row and not across:
            yield SegmentPair(row, [], None)
            row = []
        elif row and len(row) < budget:
            row = [*row, separator]
        for sentence in document:
            if row and len(row) + len(sentence) > budget:
                yield SegmentPair(row, [], None)
                row = []
            for start in range(0, len(sentence), budget):
                part = sentence[start : start + budget]
                if len(row) + len(part) > budget:
                    yield SegmentPair(row, [], None)
                    row = []
                row = row + part
    if row:
        yield SegmentPair(row, [], None)


def padded(rows: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
    """Rows of different lengths → (B, longest), `fill` behind the short ones."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def padded_batch(rows: Sequence[Sequence[int]], pad_id: int, **others: torch.Tensor | None) -> Batch:
    """Rows of ids → a batch as wide as the longest; `padding` is None where none is needed.

    others: more fields of the Batch.
    """
    ids = padded(rows, pad_id)
    padding = torch.arange(ids.size(1)) < torch.tensor([[len(row)] for row in rows])
    return Batch(ids, padding=None if padding.all() else padding, **others)


def assemble(pairs: Sequence[SegmentPair], tokenizer: Tokenizer) -> tuple[Batch, torch.Tensor, torch.Tensor]:
    """[CLS] a [SEP] b [SEP] (or [CLS] a [SEP]), padded to the longest.

    → (batch, special (B, T) bool, joined (B, T) bool: where a segmenter says that a word goes on). `padding` is None
    where all rows are equally long: attention is faster without a mask.
    """
    cls, sep = tokenizer.cls_id, tokenizer.sep_id
    rows = [[cls, *p.a, sep, *p.b, *([sep] if p.b else [])] for p in pairs]
    ids = padded(rows, tokenizer.pad_id)
    joined = (ids & JOINED) > 0
    ids = ids & (JOINED - 1)
    lengths = torch.tensor([[len(row)] for row in rows])
    ends_of_a = torch.tensor([[len(pair.a) + 2] for pair in pairs])
    position = torch.arange(ids.size(1))
    padding = position < lengths
    special = (position == 0) | (position == ends_of_a - 1) | (position >= lengths - 1)
    special |= ids == sep  # between two documents of a packed row
    labelled = pairs[0].next_label is not None
    batch = Batch(
        ids,
        segments=((position >= ends_of_a) & padding).long(),
        padding=None if padding.all() else padding,
        next_labels=torch.tensor([pair.next_label for pair in pairs]) if labelled else None,
    )
    return batch, special, joined


@dataclass(frozen=True)
class Masking:
    """How tokens are hidden; the paper's values by default. static: masks drawn once per pass and repeated in every
    epoch, as in the paper's code; otherwise drawn anew each time (Liu et al. 2019, §4.1)."""

    rate: float = 0.15
    split: tuple[float, float, float] = (0.8, 0.1, 0.1)
    whole_words: bool = False
    static: bool = False


@dataclass(frozen=True)
class Position:
    """A place in the stream of batches: the epoch, the documents of it that are used up, and the batches given out of
    the pool that begins there."""

    epoch: int = 0
    documents: int = 0
    batches: int = 0


class PretrainingBatches:
    """Batches for MLM and NSP, epoch after epoch (for ever if `epochs` is None), documents and rows shuffled.

    Rows of like length share a batch, so little is padded; which batch comes next stays random. A pool of batches is a
    pure function of seed and place, so a stream that starts at the `position` another one has reached goes on with the
    very same batches. input_format: "segment_pair" is the paper's; for the others see Liu et al. (2019), §4.2.
    short_probability: of a document's aiming for shorter rows (segment pairs only).
    """

    def __init__(
        self,
        store: TokenStore,
        tokenizer: Tokenizer,
        *,
        batch_size: int,
        max_length: int,
        seed: int,
        masking: Masking | None = None,
        epochs: int | None = None,
        input_format: str = "segment_pair",
        short_probability: float = 0.1,
        position: Position | None = None,
    ):
        if input_format not in FORMATS:
            raise ValueError(f"the input format must be one of {', '.join(FORMATS)}, not {input_format!r}")
        if input_format in PAIR_FORMATS and len(store) < 2:
            raise DataError(
                "the text is a single document, and a second segment comes from another one: put a blank line between "
                "documents, or choose an input format without next sentences"
            )
        self.store, self.tokenizer, self.batch_size, self.max_length = store, tokenizer, batch_size, max_length
        self.seed, self.masking, self.epochs = seed, masking or Masking(), epochs
        self.input_format, self.short_probability = input_format, short_probability
        self.position = position or Position()
        self.vocab = MaskVocabulary.of(tokenizer)

    def __iter__(self) -> Iterator[Batch]:
        """The batches from `position` on, which moves along: after each batch it is the place of the next one."""
        while self.epochs is None or self.position.epoch < self.epochs:
            empty = self.position == Position(self.position.epoch)
            seed = [self.seed, 0 if self.masking.static else self.position.epoch]
            order = np.random.default_rng(seed).permutation(len(self.store))
            while self.position.documents < len(order):
                for batch in self.pool(order, [*seed, self.position.documents]):
                    empty = False
                    yield batch
            if empty:
                raise DataError("the text is too short: not one row can be made of it")
            self.position = Position(self.position.epoch + 1)

    def pool(self, order: np.ndarray, seed: list[int]) -> Iterator[Batch]:
        """The batches of the documents from `position` on, as many as make up a pool."""
        rng = np.random.default_rng(seed)
        start, here, tokens = self.position.documents, self.position.documents, 0
        while here < len(order) and tokens < POOL * self.batch_size * self.max_length:
            first, last = self.store.documents[order[here]], self.store.documents[order[here] + 1]
            tokens += int(self.store.sentences[last] - self.store.sentences[first])
            here += 1
        rows = self.rows_of(order[start:here].tolist(), rng)
        # Shuffled before sorting, which keeps the order of equals: else a batch would be a single document.
        rows = [rows[i] for i in rng.permutation(len(rows))]
        rows.sort(key=lambda row: len(row.a) + len(row.b))
        groups = [rows[i : i + self.batch_size] for i in range(0, len(rows), self.batch_size)]
        for number, chosen in enumerate(rng.permutation(len(groups))):
            if number < self.position.batches:
                continue
            batch = self.masked(groups[chosen], [*seed, number])
            self.position = replace(self.position, documents=start, batches=number + 1)
            if number + 1 == len(groups):
                self.position = Position(self.position.epoch, here)
            yield batch
        if not groups:
            self.position = Position(self.position.epoch, here)

    def rows_of(self, documents: list[int], rng: np.random.Generator) -> list[SegmentPair]:
        sentences = ((index, list(self.store.document(index))) for index in documents)
        if self.input_format in ("full_sentences", "doc_sentences"):
            across = self.input_format == "full_sentences"
            texts = (document for _, document in sentences)
            return list(packed_sentences(texts, self.max_length, self.tokenizer.sep_id, across))
        pairs_of = single_pairs
        if self.input_format == "segment_pair":
            pairs_of = partial(sentence_pairs, short_probability=self.short_probability)
        rows: list[SegmentPair] = []
        for index, document in sentences:
            rows += pairs_of(document, partial(self.store.elsewhere, index, rng), self.max_length, rng)
        return rows

    def masked(self, rows: list[SegmentPair], seed: list[int]) -> Batch:
        batch, special, joined = assemble(rows, self.tokenizer)
        noise = torch.Generator().manual_seed(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> 1))
        masking = self.masking
        ids, labels = mask_tokens(
            batch.ids, special, self.vocab, noise, masking.rate, masking.split, masking.whole_words, joined
        )
        return replace(batch, ids=ids, labels=labels)
