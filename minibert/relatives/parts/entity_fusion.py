"""ERNIE of Tsinghua (Zhang et al. 2019, arXiv:1905.07129): layers after BERT that fuse the vectors of words with those
of the entities they name; in pre-training it also predicts which entity a word names.

Letters as in `minibert.model`; E size of an entity's vector, N entities of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.model import IGNORE, Batch, BertForPreTraining, SelfAttention, Tap, no_tap
from minibert.training.cross_entropy import cross_entropy

REPLACED, MASKED = 0.05, 0.15  # of the alignments (§3.4); the rest is kept


@dataclass(frozen=True, kw_only=True)
class AlignedBatch(Batch):
    """entities: (B, T) int64, input: the entity aligned with each token, −100 for none · named: (B, T), target: the
    entity it really names, −100 where there is none."""

    entities: Tensor
    named: Tensor | None = None


@dataclass(frozen=True)
class FusedOutput:
    """tokens: (B, T, H) · entities: (B, T, E), zero where there is none · mlm_logits: (M, V) at the labels, else (B, T,
    V) · entity_logits: (B, T, N) · losses: None without labels."""

    tokens: Tensor
    entities: Tensor
    mlm_logits: Tensor
    entity_logits: Tensor
    mlm_loss: Tensor | None = None
    entity_loss: Tensor | None = None


class Fusion(nn.Module):
    """h = σ(W̃_t w + W̃_e e + b̃); w′ = σ(W_t h + b_t); e′ = σ(W_e h + b_e), σ = GELU (§3.3). A token without an entity:
    h = σ(W̃_t w + b̃), and no e′."""

    def __init__(self, hidden: int, entity: int, inner: int):
        super().__init__()
        self.from_token, self.from_entity = nn.Linear(hidden, inner), nn.Linear(entity, inner, bias=False)
        self.to_token, self.to_entity = nn.Linear(inner, hidden), nn.Linear(inner, entity)

    def forward(self, w: Tensor, e: Tensor, named: Tensor) -> tuple[Tensor, Tensor]:
        """w: (B, T, H), e: (B, T, E), named: (B, T) bool → fused w and e, same shapes"""
        from_entity = self.from_entity(e) * named[..., None]  # (B, T, inner)
        h = F.gelu(self.from_token(w) + from_entity)
        return F.gelu(self.to_token(h)), F.gelu(self.to_entity(h)) * named[..., None]


class Aggregator(nn.Module):
    """Tokens attend to tokens, entities to entities; then each token and its entity are fused (§3.3). Both steps have
    the residual sums and LayerNorms of a Transformer's block, for words and for entities."""

    def __init__(self, config, entity: int):
        super().__init__()
        self.tokens = SelfAttention(config)
        self.entities = SelfAttention(config.change(hidden_size=entity, num_attention_heads=1))
        self.fusion = Fusion(config.hidden_size, entity, config.intermediate_size)
        self.token_norms, self.entity_norms = (
            nn.ModuleList(nn.LayerNorm(size, eps=config.layer_norm_eps) for _ in range(2))
            for size in (config.hidden_size, entity)
        )

    def forward(self, w: Tensor, e: Tensor, named: Tensor, padding: Tensor | None) -> tuple[Tensor, Tensor]:
        read = None if padding is None else padding[:, None, None, :]
        # Entities attend to entities; a token without one attends to itself, so that its softmax row is not empty.
        apart = named[:, None, None, :] | torch.eye(named.size(1), dtype=torch.bool, device=named.device)
        w = self.token_norms[0](w + self.tokens(w, read))
        e = self.entity_norms[0](e + self.entities(e, apart))
        fused_w, fused_e = self.fusion(w, e, named)
        return self.token_norms[1](w + fused_w), self.entity_norms[1](e + fused_e) * named[..., None]


class ErnieThu(nn.Module):
    """A BERT, a K-encoder of a few layers, and two objectives: masked tokens, and the entity of each aligned token,
    softmax_j(linear(w_i) · e_j) over the entities of the graph (§3.4; in the paper over those of the text, as a large
    graph has too many). The entities' vectors come from TransE and are not trained."""

    def __init__(self, model: BertForPreTraining, entities: Tensor, layers: int = 2):
        super().__init__()
        self.model = model
        self.entities: Tensor
        self.register_buffer("entities", entities.clone())  # (N, E)
        # An entity's information reaches other tokens only in the layer after its fusion, so one layer is too few.
        self.layers = nn.ModuleList(Aggregator(model.config, entities.size(1)) for _ in range(layers))
        self.name = nn.Linear(model.config.hidden_size, entities.size(1))

    def forward(self, batch: AlignedBatch, tap: Tap = no_tap) -> FusedOutput:
        w, _ = self.model.bert(Batch(batch.ids, batch.segments, batch.padding))  # (B, T, H)
        named = batch.entities != IGNORE  # (B, T)
        e = self.entities[batch.entities.clamp(min=0)] * named[..., None]  # (B, T, E)
        for layer in self.layers:
            w, e = layer(w, e, named, batch.padding)
        w, e = tap("tokens", w), tap("entities", e)
        mask = ... if batch.labels is None else batch.labels != IGNORE
        mlm_logits = self.model.mlm(w[mask])
        entity_logits = tap("named", self.name(w) @ self.entities.T)  # (B, T, N)
        mlm_loss = None if batch.labels is None else cross_entropy(mlm_logits, batch.labels[mask])
        of_names = None if batch.named is None else cross_entropy(entity_logits.flatten(0, 1), batch.named.flatten())
        return FusedOutput(w, e, mlm_logits, entity_logits, mlm_loss, of_names)


def noisy(batch: AlignedBatch, count: int, rng: torch.Generator, replaced=REPLACED, masked=MASKED) -> AlignedBatch:
    """The denoising entity auto-encoder's input (§3.4): of the alignments, the share `replaced` gets another of `count`
    entities, the share `masked` is removed, the rest is kept; the target is always the right entity."""
    entities, fate = batch.entities, torch.rand(batch.entities.shape, generator=rng)
    named = entities != IGNORE
    other = torch.randint(count - 1, entities.shape, generator=rng)
    other = other + (other >= entities).long()  # any but its own
    corrupted = torch.where(named & (fate < replaced), other, entities)
    corrupted = corrupted.masked_fill(named & (fate >= replaced) & (fate < replaced + masked), IGNORE)
    return replace(batch, entities=corrupted, named=entities)
