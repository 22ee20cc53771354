"""Token store → rows of the model's input → batches for pre-training, resumable at any position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from minibert.model import Batch
from minibert.objectives import MaskedLanguageModel, Objective
from minibert.text.documents import DataError
from minibert.text.segment_pairs import SegmentPair, packed_sentences
from minibert.text.store import JOINED, TokenStore
from minibert.tokenizer import Tokenizer

FORMATS = ("segment_pair", "sentence_pair", "full_sentences", "doc_sentences")  # the last two: no second segment
PAIR_FORMATS = FORMATS[:2]
POOL = 256  # batches whose rows are sorted by length together


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


def length_batches(lengths: Sequence[int], rows: int = 64, tokens: int = 2**12) -> Iterator[list[int]]:
    """Indices of texts for batches with little padding: the longest first, at most `rows` texts and `tokens` tokens
    each, padding included: more would leave a processor's cache (`bench.answers`)."""
    order, start = sorted(range(len(lengths)), key=lambda i: -lengths[i]), 0
    while start < len(order):
        size = max(1, min(rows, tokens // max(1, lengths[order[start]])))
        yield order[start : start + size]
        start += size


def assemble(pairs: Sequence[SegmentPair], tokenizer: Tokenizer) -> tuple[Batch, torch.Tensor, torch.Tensor]:
    """[CLS] a [SEP] b [SEP] (or [CLS] a [SEP]), padded to the longest.

    → (batch, special (B, T) bool, joined (B, T) bool: True where a token continues a word of the segmenter). `padding`
    is None where all rows are equally long: attention is faster without a mask.
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
class Position:
    """A position in the stream of batches. documents: used up in this epoch · batches: already given of the pool that
    begins after these documents · given: batches in all."""

    epoch: int = 0
    documents: int = 0
    batches: int = 0
    given: int = 0


class PretrainingBatches:
    """Batches for an objective, BERT's by default, epoch after epoch (for ever if `epochs` is None), documents and rows
    shuffled.

    Rows of similar length share a batch, which saves padding; the order of the batches stays random. A pool of batches
    is a pure function of seed and position, so a stream started at another one's `position` continues with exactly the
    same batches. input_format: "segment_pair" is the paper's; for the others see Liu et al. (2019), §4.2.
    short_probability: of aiming for shorter rows, per document (segment pairs only).
    """

    def __init__(
        self,
        store: TokenStore,
        tokenizer: Tokenizer,
        *,
        batch_size: int,
        max_length: int,
        seed: int,
        objective: Objective | None = None,
        epochs: int | None = None,
        input_format: str = "segment_pair",
        short_probability: float = 0.1,
        position: Position | None = None,
    ):
        if input_format not in FORMATS:
            raise ValueError(f"the input format must be one of {', '.join(FORMATS)}, not {input_format!r}")
        objective = objective or MaskedLanguageModel()
        if input_format in PAIR_FORMATS and not objective.pairs:
            input_format = objective.single_format
        if input_format in PAIR_FORMATS and input_format not in objective.pairs:
            raise ValueError(f"the objective {objective.name} has no input format {input_format!r}")
        if input_format in PAIR_FORMATS and objective.uses_other_documents and len(store) < 2:
            raise DataError(
                "the text is a single document, and a second segment comes from another one: put a blank line between "
                "documents, or choose an input format without next sentences"
            )
        self.store, self.tokenizer, self.batch_size, self.max_length = store, tokenizer, batch_size, max_length
        self.seed, self.objective, self.epochs = seed, objective, epochs
        self.input_format, self.short_probability = input_format, short_probability
        self.position = position or Position()
        self.vocab = objective.vocabulary(store, tokenizer)

    def __iter__(self) -> Iterator[Batch]:
        """The batches from `position` on; when one is yielded, `position` is already that of the next."""
        while self.epochs is None or self.position.epoch < self.epochs:
            empty = (self.position.documents, self.position.batches) == (0, 0)
            seed = [self.seed, 0 if self.objective.static else self.position.epoch]
            order = np.random.default_rng(seed).permutation(len(self.store))
            while self.position.documents < len(order):
                for batch in self.pool(order, [*seed, self.position.documents]):
                    empty = False
                    yield batch
            if empty:
                raise DataError("the text is too short: not one row can be made of it")
            self.position = Position(self.position.epoch + 1, given=self.position.given)

    def pool(self, order: np.ndarray, seed: list[int]) -> Iterator[Batch]:
        """The remaining batches of the pool at `position`, which has documents for about POOL batches."""
        rng = np.random.default_rng(seed)
        start, here, tokens = self.position.documents, self.position.documents, 0
        while here < len(order) and tokens < POOL * self.batch_size * self.max_length:
            first, last = self.store.documents[order[here]], self.store.documents[order[here] + 1]
            tokens += int(self.store.sentences[last] - self.store.sentences[first])
            here += 1
        rows = self.rows_of(order[start:here].tolist(), rng)
        # Shuffled first, because sorting is stable: else the rows of a batch would come from a single document.
        rows = [rows[i] for i in rng.permutation(len(rows))]
        rows.sort(key=lambda row: len(row.a) + len(row.b))
        groups = [rows[i : i + self.batch_size] for i in range(0, len(rows), self.batch_size)]
        if self.position.batches and self.position.batches >= len(groups):  # else this pool would repeat for ever
            raise DataError("the place this run had reached is not in its text: one of the two was changed")
        for number, chosen in enumerate(rng.permutation(len(groups))):
            if number < self.position.batches:
                continue
            batch = self.corrupted(groups[chosen], [*seed, number])
            given = self.position.given + 1
            self.position = replace(self.position, documents=start, batches=number + 1, given=given)
            if number + 1 == len(groups):
                self.position = Position(self.position.epoch, here, given=given)
            yield batch
        if not groups:
            self.position = Position(self.position.epoch, here, given=self.position.given)

    def rows_of(self, documents: list[int], rng: np.random.Generator) -> list[SegmentPair]:
        sentences = ((index, list(self.store.document(index))) for index in documents)
        if self.input_format not in self.objective.pairs:
            across = self.input_format == "full_sentences"
            texts = (document for _, document in sentences)
            return list(packed_sentences(texts, self.max_length, self.tokenizer.sep_id, across))
        pairs_of = self.objective.pairs[self.input_format]
        rows: list[SegmentPair] = []
        for index, document in sentences:
            elsewhere = partial(self.store.elsewhere, index, rng)
            rows += pairs_of(document, elsewhere, self.max_length, rng, self.short_probability)
        return rows

    def corrupted(self, rows: list[SegmentPair], seed: list[int]) -> Batch:
        batch, special, joined = assemble(rows, self.tokenizer)
        noise = torch.Generator().manual_seed(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> 1))
        objective = self.objective.after(self.position.given)
        return objective.corrupt(batch, special, joined, self.vocab, noise)
