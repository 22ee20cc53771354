"""Spans and their boundaries (Joshi et al. 2020, arXiv:1907.10529): which runs of words are hidden, and a head that
predicts them from the two tokens around them only."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.masking.units import Unit, draw_runs, hide_units
from minibert.model import (
    ACTIVATIONS,
    BERT_COMPONENTS,
    IGNORE,
    Batch,
    Components,
    PreTrainingOutput,
    Tap,
    initialize,
    no_tap,
)
from minibert.objectives import PredictionStats, WithoutPairs, stats_of, targets_of
from minibert.relatives.parts.masked_lm import MaskedLm
from minibert.training.cross_entropy import cross_entropy

LONGEST, P = 10, 0.2
PLACES = 20  # positions in a span that have their own embedding: adjacent spans are merged


def length_shares(p: float = P, longest: int = LONGEST) -> list[float]:
    """P(ℓ = 1 … longest): p·(1 − p)^(ℓ−1), made to add up to 1, so that no span is longer (§3.1; mean 3.8)."""
    shares = [p * (1 - p) ** n for n in range(longest)]
    return [share / sum(shares) for share in shares]


def draw_spans(words: list[Unit], budget: int, rng: random.Random) -> list[Unit]:
    """Spans of whole words until the budget is full; adjacent spans are merged."""
    lengths, shares = range(1, LONGEST + 1), length_shares()
    spans: list[Unit] = []
    for run in draw_runs(words, budget, lambda: rng.choices(lengths, shares)[0], rng):
        if spans and spans[-1][1] == run[0][0]:
            spans[-1] = spans[-1][0], run[-1][1]
        else:
            spans.append((run[0][0], run[-1][1]))
    return spans


def boundaries(labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For every labelled token, in reading order: (row and position of the token before its span (M, 2), of the one
    after it (M, 2), its position in the span from 0 (M,)). labels: (B, T), none at the ends of a row."""
    mask, place = labels != IGNORE, torch.arange(labels.size(1), device=labels.device).expand_as(labels)
    before = place.masked_fill(mask, -1).cummax(dim=1).values  # (B, T)
    behind = place.masked_fill(mask, labels.size(1)).flip(1).cummin(dim=1).values.flip(1)  # (B, T)
    row = mask.nonzero()[:, 0]
    left, right = before[mask], behind[mask]
    return torch.stack([row, left], 1), torch.stack([row, right], 1), place[mask] - left - 1


class SpanBoundary(nn.Module):
    """h0 = [x_{s−1}; x_{e+1}; p_{i−s+1}], h1 = LN(GELU(W1 h0)), y_i = LN(GELU(W2 h1)) (§3.2)."""

    def __init__(self, config) -> None:
        super().__init__()
        width, eps = config.hidden_size, config.layer_norm_eps
        self.position = nn.Embedding(PLACES, config.span_position_size)
        self.first = nn.Linear(2 * width + config.span_position_size, width)
        self.first_norm = nn.LayerNorm(width, eps=eps)
        self.second = nn.Linear(width, width)
        self.second_norm = nn.LayerNorm(width, eps=eps)
        self.activation = ACTIVATIONS[config.hidden_act]
        initialize(self, config.initializer_range)

    def forward(self, left: Tensor, right: Tensor, place: Tensor) -> Tensor:
        h0 = torch.cat([left, right, self.position(place.clamp(max=PLACES - 1))], -1)  # (M, 2·H + Q)
        h1 = self.first_norm(self.activation(self.first(h0)))  # (M, H)
        return self.second_norm(self.activation(self.second(h1)))  # (M, H)


@dataclass(frozen=True)
class SpanOutput(PreTrainingOutput):
    """With the predictions from the boundaries of spans. sbo_logits: (M, V)."""

    sbo_logits: Tensor | None = None
    sbo_loss: Tensor | None = None

    @property
    def loss(self) -> Tensor:
        return super().loss if self.sbo_loss is None else super().loss + self.sbo_loss


class SpanLm(MaskedLm):
    """A masked LM, and a second head that predicts the same tokens from the boundaries. Both share one decoder."""

    objective_name = "mlm+sbo"

    def __init__(self, config: BertConfig, components: Components = BERT_COMPONENTS):
        super().__init__(config, components)
        self.sbo = SpanBoundary(config)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> SpanOutput:
        x, pooled = self.bert(batch, tap)  # (B, T, H), (B, H)
        mlm = self.answer(x, pooled, batch, tap)
        if batch.labels is None:
            return SpanOutput(**vars(mlm))
        left, right, place = boundaries(batch.labels)
        y = self.sbo(x[tuple(left.T)], x[tuple(right.T)], place)  # (M, H)
        logits = tap("sbo.logits", self.mlm.decoder(y))  # (M, V)
        loss = cross_entropy(logits, targets_of(batch.labels)[1])
        return SpanOutput(**vars(mlm), sbo_logits=logits, sbo_loss=loss)


@dataclass(frozen=True)
class Spans(WithoutPairs):
    """L = L_MLM + L_SBO over hidden spans, in rows of one document (§3.1 to §3.3). boundary: whether L_SBO is used;
    False is an ablation."""

    boundary: bool = True

    single_format: ClassVar = "doc_sentences"
    counts: ClassVar = {"mlm": "masked_tokens", "sbo": "span_tokens"}
    name: ClassVar = "mlm+sbo"
    model: ClassVar = SpanLm

    def hide(self, ids, special, joined, vocabulary, rng) -> tuple[Tensor, Tensor]:
        m, draw = self.masking, lambda row, words, budget, dice: draw_spans(words, budget, dice)
        return hide_units(ids, special, joined, vocabulary, rng, draw, m.rate, m.split)

    def target_counts(self, batch) -> dict[str, int]:
        return super().target_counts(batch) | ({"sbo": batch.num_targets} if self.boundary else {})

    def prediction_stats(self, output, batch) -> dict[str, PredictionStats]:
        stats = super().prediction_stats(output, batch)
        if self.boundary:
            stats["sbo"] = stats_of(output.sbo_logits, targets_of(batch.labels)[1], output.sbo_loss)
        return stats
