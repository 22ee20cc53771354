"""Next-sentence prediction in detail: how each pair is made, what a model predicts, and how far topic alone goes.

The pairs are those of `segment_pairs`: here it is given the places of the tokens in the text instead of their
ids, so that every pair can say where each of its tokens came from.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import torch
from torch import Tensor

from minibert.model import Batch, BertForPreTraining
from minibert.text.batches import assemble
from minibert.text.segment_pairs import SegmentPair, segment_pairs
from minibert.text.store import TokenStore
from minibert.text.truncation import keep
from minibert.tokenizer import Tokenizer

NEXT, ELSEWHERE, TOPIC, APART, SWAPPED = KINDS = ("next", "elsewhere", "topic", "apart", "swapped")
ROWS = 32  # pairs judged in one forward pass


# ------------------------------------------------------------------------------------------------ how pairs are made
@dataclass(frozen=True)
class Decision:
    """How one pair came about. Tokens are places in the text: indices into `TokenStore.ids`.

    target: tokens aimed for · chunk: its sentences · end_of_a: how many of them are A · b: B before it was cut ·
    pair: what is left of both after cutting.
    """

    document: int
    target: int
    chunk: list[list[int]]
    end_of_a: int
    b: list[int]
    pair: SegmentPair

    @property
    def random_next(self) -> bool:
        """Whether B was drawn from another document."""
        return self.pair.next_label == 1

    @property
    def a(self) -> list[int]:
        """A before it was cut."""
        return [place for sentence in self.chunk[: self.end_of_a] for place in sentence]

    @property
    def put_back(self) -> list[list[int]]:
        """Sentences of the chunk that a random B left unused: the next chunk begins with them."""
        return self.chunk[self.end_of_a :] if self.random_next else []


def documents_in(text: str) -> list[list[str]]:
    """Lines of text → documents as lists of lines, a blank line between documents, as `read_documents` has it."""
    blocks = ([line.strip() for line in block.splitlines()] for block in re.split(r"\n\s*\n", text))
    return [lines for block in blocks if (lines := [line for line in block if line])]


def decisions(store: TokenStore, max_length: int, seed: int, short_probability: float = 0.1) -> list[Decision]:
    """Every pair of one pass over the documents, in the order and with the draws of `PretrainingBatches.rows_of`."""
    rng = np.random.default_rng(seed)
    places = replace(store, ids=np.arange(len(store.ids)))
    made: list[Decision] = []
    for index in map(int, rng.permutation(len(store))):
        seen: list[tuple[int, list[list[int]], int, list[int]]] = []
        pairs = segment_pairs(
            list(places.document(index)),
            partial(places.elsewhere, index, rng),
            max_length,
            rng,
            short_probability,
            watch=lambda *step: seen.append(step),  # noqa: B023  (called before the next round)
        )
        made += [Decision(index, *step, pair) for step, pair in zip(seen, pairs, strict=True)]
    return made


def random_share(
    store: TokenStore, sentences: int, max_length: int, seed: int, short_probability: float = 0.1, documents: int = 400
) -> tuple[int, int]:
    """(random, all) pairs if every document ended after `sentences` sentences, over about `documents` of them."""
    rng = np.random.default_rng(seed)
    labels = [
        pair.next_label
        for _ in range(math.ceil(documents / len(store)))
        for index in range(len(store))
        for pair in segment_pairs(
            list(store.document(index))[:sentences],
            partial(store.elsewhere, index, rng),
            max_length,
            rng,
            short_probability,
        )
    ]
    return labels.count(1), len(labels)


# --------------------------------------------------------------------------------------------------- what is judged
@torch.inference_mode()
def _read(
    model: BertForPreTraining, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[list[int], Batch, Tensor, Tensor]]:
    """(numbers of the pairs, batch, hidden (B, T, H), pooled (B, H)); pairs of like length share a batch. Pairs that
    are too long lose their ends. The decoder is not run: it is most of the work, and not needed."""
    room = model.config.longest - 3
    encoded = zip(*(tokenizer.encode_bulk(texts) for texts in zip(*pairs, strict=True)), strict=True)
    rows = []
    for a, b in encoded:
        of_a, of_b = keep([len(a), len(b)], room)
        rows.append(SegmentPair([a[i] for i in of_a], [b[i] for i in of_b], 0))
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].a) + len(rows[i].b))
    for start in range(0, len(order), ROWS):
        chosen = order[start : start + ROWS]
        batch, *_ = assemble([rows[i] for i in chosen], tokenizer)
        yield chosen, batch, *model.bert(batch)


def judge(model: BertForPreTraining, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """The probability that B follows A, for each pair of texts: (N,) float64."""
    probs = np.empty(len(pairs))
    for rows, _batch, _hidden, pooled in _read(model, tokenizer, pairs):
        with torch.inference_mode():
            probs[rows] = model.nsp(pooled).double().softmax(-1)[:, 0].numpy()
    return probs


class TopicOverlap:
    """Similarity of the words of two texts, regardless of their order: the cosine between their vectors.

    A text's vector is the sum of its token embeddings, each times its idf, ln((1 + N) / (1 + documents with it)) + 1:
    neither depends on the token's position. So the overlap of A and B is that of B and A, to the last bit.
    """

    def __init__(self, model: BertForPreTraining, tokenizer: Tokenizer, documents: Sequence[Sequence[str]]):
        self.tokenizer = tokenizer
        self.embeddings = model.bert.embeddings.get_parameter("token.weight").detach().numpy()  # shared, no copy
        found = Counter(
            token for ids in tokenizer.encode_bulk("\n".join(lines) for lines in documents) for token in set(ids)
        )
        counts = np.array([found[token] for token in range(len(self.embeddings))])
        self.idf = np.log((1 + len(documents)) / (1 + counts)) + 1

    def vector(self, text: str) -> np.ndarray:
        """(H,); all zeros for a text without a token."""
        ids = sorted(self.tokenizer.encode_bulk([text])[0])  # sorted: addition in another order differs in the last bit
        return (self.idf[ids, None] * self.embeddings[ids]).sum(0)  # in float64, as idf is

    def __call__(self, a: str, b: str) -> float:
        """−1 … 1; 0 if a text is empty."""
        one, other = self.vector(a), self.vector(b)
        lengths = np.linalg.norm(one) * np.linalg.norm(other)
        return float(one @ other / lengths) if lengths else 0.0


def best_threshold(follows: np.ndarray, random: np.ndarray) -> float:
    """The threshold from which on "next" has the best balanced accuracy: halfway between two of the given values, the
    lowest if several are equally good."""
    values = np.unique(np.concatenate([follows, random]))
    bounds = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    right = (follows >= bounds[:, None]).mean(1) + (random < bounds[:, None]).mean(1)
    return float(bounds[right.argmax()])


# ------------------------------------------------------------------------------------------- topic against coherence
@dataclass(frozen=True)
class Probe:
    """A pair with a known label. window: number of the passage A it was made from, shared by the pairs of all kinds."""

    kind: str
    document: int
    window: int
    a: str
    b: str


def probes(documents: Sequence[Sequence[str]], topics: Sequence[int], sentences: int = 2, seed: int = 0) -> list[Probe]:
    """Pairs of every kind from documents of one sentence a line, `sentences` of them on each side.

    Each A gets one B of each kind: `next` what follows it · `elsewhere` from a document on another topic · `topic` from
    another document on the same topic (where there is one) · `apart` from the same document with at least one sentence
    between · `swapped` the true pair with A and B exchanged (the negative of Lan et al. 2020, §3.1). Documents of even
    and of odd number never share a pair, so that either half can be held out.
    """
    rng = np.random.default_rng(seed)
    found: list[Probe] = []
    window = 0

    def passage(lines: Sequence[str], start: int) -> str:
        return " ".join(lines[start : start + sentences])

    def drawn(others: Sequence[int]) -> str:
        lines = documents[others[int(rng.integers(len(others)))]]
        return passage(lines, int(rng.integers(len(lines) - sentences + 1)))

    usable = [i for i, lines in enumerate(documents) if len(lines) >= sentences]
    for index in usable:
        lines = documents[index]
        elsewhere = [i for i in usable if topics[i] != topics[index] and (i - index) % 2 == 0]
        alike = [i for i in usable if topics[i] == topics[index] and i != index and (i - index) % 2 == 0]
        for start in range(0, len(lines) - 2 * sentences + 1, sentences):
            a, b = passage(lines, start), passage(lines, start + sentences)
            last = len(lines) - sentences
            apart = [*range(start + sentences + 1, last + 1)] or [*range(start - sentences)]
            pairs = {NEXT: (a, b), SWAPPED: (b, a)}
            if elsewhere:
                pairs[ELSEWHERE] = (a, drawn(elsewhere))
            if alike:
                pairs[TOPIC] = (a, drawn(alike))
            if apart:
                pairs[APART] = (a, passage(lines, apart[int(rng.integers(len(apart)))]))
            found += [Probe(kind, index, window, *pairs[kind]) for kind in KINDS if kind in pairs]
            window += 1
    return found


@dataclass(frozen=True)
class TopicVerdicts:
    """N probes judged by topic alone. overlaps: (N,) · follows: (N,) bool, "next" from a threshold that was fitted on
    `next` and `elsewhere` of the other half of the documents · threshold: fitted on all, for new pairs."""

    overlaps: np.ndarray
    follows: np.ndarray
    threshold: float

    @classmethod
    def of(cls, overlap: TopicOverlap, asked: Sequence[Probe]) -> TopicVerdicts:
        overlaps = np.array([overlap(probe.a, probe.b) for probe in asked])
        kinds = np.array([probe.kind for probe in asked])
        half = np.array([probe.document % 2 for probe in asked])

        def fitted(on: np.ndarray) -> float:
            return best_threshold(overlaps[on & (kinds == NEXT)], overlaps[on & (kinds == ELSEWHERE)])

        bounds = np.array([fitted(half == 1), fitted(half == 0)])  # for each half, that of the other
        return cls(overlaps, overlaps >= bounds[half], fitted(half >= 0))


@dataclass(frozen=True)
class Measurement:
    """Every probe judged twice: by the next-sentence head, probs (N,) of IsNext, and by topic alone."""

    probes: list[Probe]
    probs: np.ndarray
    topic: TopicVerdicts

    @cached_property
    def rows(self) -> dict[str, np.ndarray]:
        """kind → the numbers of its probes."""
        kinds = np.array([probe.kind for probe in self.probes])
        return {kind: np.flatnonzero(kinds == kind) for kind in KINDS if (kinds == kind).any()}

    def judged_next(self, kind: str) -> tuple[int, int, int]:
        """(by the head, by topic alone, all): how many pairs of a kind were called "next"."""
        rows = self.rows[kind]
        return int((self.probs[rows] > 0.5).sum()), int(self.topic.follows[rows].sum()), len(rows)

    def accuracy(self, kind: str) -> tuple[float, float]:
        """Balanced accuracy (of the head, of topic alone) in telling `next` from `kind`; ½ is guessing."""
        (*true, n), (*other, m) = self.judged_next(NEXT), self.judged_next(kind)
        head, topic = (0.5 * (t / n + 1 - o / m) for t, o in zip(true, other, strict=True))
        return head, topic

    def ranked_higher(self, kind: str) -> tuple[float, float, int]:
        """(by the head, by topic alone, all): how often the true continuation of an A scored higher than its B of this
        kind. A tie counts half. Unlike `judged_next`, it does not depend on a threshold."""
        true = {self.probes[i].window: i for i in self.rows[NEXT]}
        rows = self.rows[kind]
        mine = np.array([true[self.probes[i].window] for i in rows])
        wins = [(np.sign(v[mine] - v[rows]) + 1).sum() / 2 for v in (self.probs, self.topic.overlaps)]
        return float(wins[0]), float(wins[1]), len(rows)


def deal(asked: Sequence[Probe], negative: str, count: int, seed: int) -> list[int]:
    """Numbers of `count` probes to guess, each from another document: a fair coin decides between `next` and
    `negative`."""
    rng = np.random.default_rng(seed)
    dealt = []
    for document in rng.permutation(sorted({probe.document for probe in asked}))[:count]:
        kind = NEXT if rng.random() < 0.5 else negative
        fitting = [i for i, probe in enumerate(asked) if probe.document == document and probe.kind == kind]
        dealt.append(fitting[int(rng.integers(len(fitting)))])
    return dealt


def measure(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    documents: Sequence[Sequence[str]],
    topics: Sequence[int],
    sentences: int = 2,
    seed: int = 0,
    judge: Callable[..., np.ndarray] = judge,
) -> Measurement:
    """Judge the probes of some documents. topics: one number a document; equal numbers, same topic · judge: what stands
    in for this file's, such as a stored result of it."""
    asked = probes(documents, topics, sentences, seed)
    topic = TopicVerdicts.of(TopicOverlap(model, tokenizer, documents), asked)
    return Measurement(asked, judge(model, tokenizer, [(probe.a, probe.b) for probe in asked]), topic)


def teach_order(
    model: BertForPreTraining, tokenizer: Tokenizer, asked: Sequence[Probe], folds: int = 10
) -> dict[str, tuple[int, int]]:
    """Train a new layer, the encoder frozen, to tell `next` from `swapped` → (right, all) on documents not trained on.

    Keys, the layer's input: "pooled", (H,), as the next-sentence head reads · "means", (2H,), the mean vector of each
    segment. Logistic regression on standardised features, strongly regularised (C = 0.01): there are more features
    than pairs. Cross-validated in `folds` parts; all pairs of a document are in one part.
    """
    # Imported here: it takes a second, which a page that only shows pairs need not wait.
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    asked = [probe for probe in asked if probe.kind in (NEXT, SWAPPED)]
    size = model.config.hidden_size
    features = {"pooled": np.empty((len(asked), size)), "means": np.empty((len(asked), 2 * size))}
    for rows, batch, hidden, pooled in _read(model, tokenizer, [(probe.a, probe.b) for probe in asked]):
        real = torch.ones_like(batch.ids, dtype=torch.bool) if batch.padding is None else batch.padding
        parts = [(real & (batch.segments == segment)).float()[..., None] for segment in (0, 1)]  # (B, T, 1) each
        features["pooled"][rows] = pooled.numpy()
        features["means"][rows] = torch.cat([(hidden * part).sum(1) / part.sum(1) for part in parts], -1).numpy()
    truth = np.array([probe.kind == NEXT for probe in asked])
    documents = [probe.document for probe in asked]
    layer = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
    return {
        name: (
            int((cross_val_predict(layer, x, truth, groups=documents, cv=GroupKFold(folds)) == truth).sum()),
            len(truth),
        )
        for name, x in features.items()
    }
