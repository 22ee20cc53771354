"""Documents → the rows of pre-training: pairs of segments (Devlin et al. 2019, §A.2), or whole sentences packed.

A pair maker is a function (document, elsewhere, max_length, rng, …) → the pairs of one document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Document = Sequence[list[int]]  # sentences as ids
Elsewhere = Callable[[], Iterator[list[int]]]  # the sentences of another document, from a random one on


@dataclass(frozen=True)
class SegmentPair:
    """The segments of a row [CLS] a [SEP] b [SEP]. next_label: 0 if b follows a in its document, 1 if it does not.

    If b is empty, the row is [CLS] a [SEP] and has no label.
    """

    a: list[int]
    b: list[int]
    next_label: int | None


def segment_pairs(
    document: Document,
    elsewhere: Elsewhere,
    max_length: int,
    rng: np.random.Generator,
    short_probability: float = 0.1,
    watch: Callable[[int, list[list[int]], int, list[int]], None] | None = None,
) -> list[SegmentPair]:
    """All pairs of one document, as `create_instances_from_document` of the paper's code makes them.

    document: sentences as ids · elsewhere(): sentences of another document, from a random one on, for random B's ·
    max_length counts [CLS] and both [SEP] · short_probability: of aiming for a shorter length, drawn once per document.
    A chunk of one sentence always gets a random B, so in short documents more than half of the pairs are random.
    watch(target, chunk, end_of_a, b): called for each pair before it is truncated.
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
    """Drop tokens from the longer of the two, one at a time, at a random end, until both fit."""
    cut = {0: [0, 0], 1: [0, 0]}  # tokens to drop from the front and the back of each
    lengths = [len(a), len(b)]
    while sum(lengths) > budget:
        longer = 0 if lengths[0] > lengths[1] else 1
        cut[longer][int(rng.random() >= 0.5)] += 1
        lengths[longer] -= 1
    return a[cut[0][0] : len(a) - cut[0][1]], b[cut[1][0] : len(b) - cut[1][1]]


def single_sentence_pairs(
    document: Document,
    elsewhere: Elsewhere,
    max_length: int,
    rng: np.random.Generator,
    short_probability: float = 0.0,
) -> list[SegmentPair]:
    """Pairs of single sentences, as they are, half of them neighbours (SENTENCE-PAIR+NSP of Liu et al. 2019, §4.2)."""
    pairs: list[SegmentPair] = []
    i = 0
    while i < len(document):
        random_next = i == len(document) - 1 or rng.random() < 0.5
        b = next(iter(elsewhere()), []) if random_next else document[i + 1]
        if b:
            pairs.append(SegmentPair(*truncate_pair(document[i], b, max_length - 3, rng), int(random_next)))
        i += 1 if random_next else 2  # each sentence is used once, except as a random b
    return pairs


def packed_sentences(
    documents: Iterator[Document], max_length: int, separator: int, across: bool
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


def ordered_pairs(
    document: Document,
    elsewhere: Elsewhere,
    max_length: int,
    rng: np.random.Generator,
    short_probability: float = 0.1,
) -> list[SegmentPair]:
    """Two consecutive segments, swapped in half of the cases (label 1): sentence order, Lan et al. 2020, §3.1.

    Chunks and their cut as in `segment_pairs`; nothing is taken from elsewhere, so a chunk of one sentence, which
    cannot be cut in two, makes no pair.
    """
    budget = max_length - 3
    target = int(rng.integers(2, budget + 1)) if rng.random() < short_probability else budget
    pairs: list[SegmentPair] = []
    chunk: list[list[int]] = []
    length = 0
    for place, sentence in enumerate(document):
        chunk.append(sentence)
        length += len(sentence)
        if place < len(document) - 1 and length < target:
            continue
        if len(chunk) > 1:
            end_of_a = int(rng.integers(1, len(chunk)))
            first, second = (
                [token for part in parts for token in part] for parts in (chunk[:end_of_a], chunk[end_of_a:])
            )
            swapped = bool(rng.random() < 0.5)
            a, b = (second, first) if swapped else (first, second)
            if a and b:
                pairs.append(SegmentPair(*truncate_pair(a, b, budget, rng), int(swapped)))
        chunk, length = [], 0
    return pairs


PairMaker = Callable[..., list[SegmentPair]]
