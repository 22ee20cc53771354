"""Permutation language modelling (Yang et al. 2019, arXiv:1906.08237, §2.2 and 2.3): the tokens of a row get a random
order, and the last ones in it are predicted, each from those before it in that order and from its own position.

An *order* gives the rank of each token: 1, 2, 3 …; tokens of rank 0 are visible to all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.model import IGNORE, Batch, Bert, BertForPreTraining, Components, MlmHead, PreTrainingOutput, Tap, no_tap
from minibert.objectives import (
    MaskedLanguageModel,
    Masking,
    Objective,
    PredictionStats,
    stats_of,
    targets_of,
)
from minibert.relatives.parts.masked_lm import NoPairs
from minibert.training.cross_entropy import cross_entropy

CONTEXTS = ("order", "all")


def draw_order(real: Tensor, rng: torch.Generator) -> Tensor:
    """A factorisation order for every row; padding comes last. real: (B, T) bool → (B, T) int64 of 1 … T."""
    lots = torch.rand(real.shape, generator=rng).masked_fill(~real, 2.0)
    return lots.argsort(dim=1).argsort(dim=1) + 1


def draw_target_spans(words: Tensor, share: float, rng: torch.Generator, longest: int = 5) -> Tensor:
    """Spans to predict (§3.1 and table 6, "span-based prediction"): draw a length n of 1 … `longest` and a span of n
    words among the next n / share, and repeat until the row ends; at least one word. As in transformers' collator.
    words: (B, T) bool, False for tokens that must not be predicted → (B, T) bool."""
    targets = torch.zeros_like(words)
    for row, places in enumerate(mask.nonzero().flatten().tolist() for mask in words):
        at = 0
        while at < len(places):
            n = int(torch.randint(1, longest + 1, (1,), generator=rng))
            window = int(n / share)
            start = at + int(torch.randint(window - n + 1, (1,), generator=rng))
            targets[row, places[start : start + n]] = True
            at += window
        if places and not targets[row].any():
            targets[row, places[int(torch.randint(len(places), (), generator=rng))]] = True
    return targets


def query_mask(order: Tensor, real: Tensor | None = None) -> Tensor:
    """The query stream's mask, where no token sees itself: i attends to j if j precedes i in the order or has rank 0
    (figure 1). order: (B, T), real: (B, T) bool, False for padding → (B, T, T)."""
    earlier = (order[:, None, :] < order[:, :, None]) | (order == 0)[:, None, :]
    return earlier if real is None else earlier & real[:, None, :]


def content_mask(order: Tensor, real: Tensor | None = None) -> Tensor:
    """The content stream's mask: `query_mask`, and each token also sees itself. → (B, T, T)"""
    return query_mask(order, real) | torch.eye(order.size(1), dtype=torch.bool, device=order.device)


def with_queries(batch: Batch, query_id: int) -> tuple[Batch, Tensor, Tensor]:
    """Both streams in one longer row: the tokens, then for each label a query that knows only its position.

    → (batch of T + M tokens per row, mask (B, 1, T + M, T + M), real queries (B, M) bool: False for padding).
    Tokens attend by `content_mask`, queries by `query_mask`; nothing attends to a query. Without an order, all labelled
    tokens are predicted from the others at once.
    """
    labelled, _ = targets_of(batch.labels)  # (B, T)
    most = int(labelled.sum(1).max())
    place = labelled.int().argsort(dim=1, descending=True, stable=True)[:, :most]  # (B, M), in reading order
    order = labelled.long() if batch.order is None else batch.order
    rows, length = batch.ids.shape
    earlier = query_mask(order, batch.padding)  # (B, T, T)
    mask = F.pad(
        torch.cat([content_mask(order, batch.padding), earlier.gather(1, place[..., None].expand(-1, -1, length))], 1),
        (0, most),
    )  # (B, T + M, T + M)
    own = torch.arange(length, device=place.device).expand(rows, -1)
    segments = (
        batch.segments if batch.segments is None else torch.cat([batch.segments, batch.segments.gather(1, place)], 1)
    )
    longer = Batch(
        torch.cat([batch.ids, torch.full_like(place, query_id)], 1), segments, positions=torch.cat([own, place], 1)
    )
    return longer, mask[:, None], labelled.gather(1, place)


class Decoder(MlmHead):
    """The token embedding, transposed, and a bias; no dense layer before it."""

    def __init__(self, config: BertConfig, token_embedding: nn.Embedding):
        nn.Module.__init__(self)
        self.decoder = nn.Linear(*token_embedding.weight.shape[::-1])
        nn.init.zeros_(self.decoder.bias)
        self.decoder.weight = token_embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(x)  # (…, H) → (…, V)


class PermutationLM(BertForPreTraining):
    """The query stream predicts the labels; without labels the content stream is decoded (as in transformers)."""

    def __init__(self, config: BertConfig, components: Components):
        nn.Module.__init__(self)
        self.config, self.bert = config, Bert(config, components)
        self.mlm, self.nsp = Decoder(config, self.bert.embeddings.token), NoPairs()

    def forward(self, batch: Batch, tap: Tap = no_tap) -> PreTrainingOutput:
        if batch.labels is None:
            x, pooled = self.bert(batch, tap)  # (B, T, H), (B, H)
            return PreTrainingOutput(tap("mlm.logits", self.mlm(x)), self.nsp(pooled))
        longer, mask, real_queries = with_queries(batch, self.config.vocab_size)
        x, _ = self.bert(longer, tap, mask)  # (B, T + M, H)
        return self.predict(x, real_queries, batch, tap)

    def predict(self, x: Tensor, real_queries: Tensor, batch: Batch, tap: Tap = no_tap) -> PreTrainingOutput:
        """From the hidden states of tokens and queries. x: (B, T + M, H), real_queries: (B, M) bool"""
        logits = tap("mlm.logits", self.mlm(x[:, batch.ids.size(1) :][real_queries]))  # (targets, V), in reading order
        loss = cross_entropy(logits, targets_of(batch.labels)[1])
        return PreTrainingOutput(logits, self.nsp(x[:, 0]), loss)


@dataclass(frozen=True)
class PermutationLanguageModel(Objective):
    """A new order for every row; its last words are predicted, each given all before it (§2.3, "partial prediction").

    share: of words to predict, 1/K in the paper with K = 6 · spans: predict runs of adjacent words, which are moved to
    the end of the order, not single words · context: which other words a word that is not predicted sees: "order",
    those before it, as in the paper, or "all" that are not predicted, as in the authors' code · masking, second_weight:
    unused, as nothing is masked and nothing predicted about pairs.
    """

    masking: Masking = field(default_factory=Masking)
    second_weight: float = 1.0
    share: float = 1 / 6
    context: str = "order"
    spans: bool = False

    name: ClassVar = "plm"
    model: ClassVar = PermutationLM
    counts: ClassVar = {"plm": "tokens"}
    pairs: ClassVar = MaskedLanguageModel().pairs  # the same rows as BERT's

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {self.share}")
        if self.context not in CONTEXTS:
            raise ValueError(f"context must be one of {', '.join(CONTEXTS)}, not {self.context!r}")

    def corrupt(self, batch, special, joined, vocabulary, rng) -> Batch:
        real = torch.ones_like(special) if batch.padding is None else batch.padding
        order = draw_order(real, rng)
        if self.spans:
            targets = draw_target_spans(~special, self.share, rng)
            last = real.sum(1, keepdim=True)  # predicted tokens after all others, then padding
            order = (order + last * targets + 2 * last * ~real).argsort(dim=1).argsort(dim=1) + 1
        else:
            words = (~special).sum(1)
            budget = (words * self.share).round().long().clamp(min=1)
            late = order.masked_fill(special, 0).argsort(dim=1, descending=True).argsort(dim=1)  # 0 for the last word
            targets = (late < budget[:, None]) & ~special
        order = order if self.context == "order" else order.masked_fill(~targets, 0)
        return replace(batch, labels=batch.ids.masked_fill(~targets, IGNORE), next_labels=None, order=order)

    def target_counts(self, batch) -> dict[str, int]:
        return {"plm": batch.num_targets}

    def prediction_stats(self, output, batch) -> dict[str, PredictionStats]:
        return {"plm": stats_of(output.mlm_logits, targets_of(batch.labels)[1], output.mlm_loss)}
