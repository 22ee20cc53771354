"""SemBERT (Zhang et al. 2020, arXiv:1909.02209): BERT's vector of each word is concatenated with one of its semantic
roles: role labels, one row per predicate, embedded and read by a bidirectional GRU.

Letters as in `minibert.model`; W words, S pieces of a word, P predicates, E size of a role's embedding, G of the GRU.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from minibert.model import IGNORE, Batch, Bert, Tap, initialize, no_tap
from minibert.training.cross_entropy import cross_entropy


@dataclass(frozen=True)
class RolesBatch(Batch):
    """words: (B, T) int64, the number of each piece's word in its row, −100 for special tokens and padding · roles:
    (B, P, W) int64, of each word's role for each predicate, −100 after a row's last word. `labels` are of words:
    (B, W), −100 where there is no target."""

    words: Tensor | None = None
    roles: Tensor | None = None


@dataclass(frozen=True)
class RolesOutput:
    """logits: (B, W, classes) · loss: None without labels."""

    logits: Tensor
    loss: Tensor | None = None


class WordVectors(nn.Module):
    """x_word = max over its pieces of ReLU(W₁ [x_i; …; x_{i+k−1}] + b₁) (§3.3: a convolution of width k within the
    word, and max pooling)."""

    def __init__(self, hidden: int, width: int = 3):
        super().__init__()
        self.conv = nn.Conv1d(hidden, hidden, width, padding=width // 2)

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        """x: (B, T, H), words: (B, T) → (B, W, H); no word's window reaches into another."""
        count = int(words.max()) + 1
        own = words[:, None, :] == torch.arange(count, device=words.device)[:, None]  # (B, W, T)
        size = max(1, int(own.sum(-1).max()))
        place = own.int().argsort(dim=-1, descending=True, stable=True)[..., :size]  # (B, W, S)
        real = own.gather(2, place)  # (B, W, S)
        pieces = x.gather(1, place.flatten(1)[..., None].expand(-1, -1, x.size(-1)))  # (B, W·S, H)
        pieces = pieces.view(*place.shape, -1) * real[..., None]  # (B, W, S, H)
        mixed = self.conv(pieces.flatten(0, 1).transpose(1, 2)).relu().transpose(1, 2).view_as(pieces)
        return mixed.masked_fill(~real[..., None], 0.0).amax(dim=2)  # ReLU is never below 0


class RoleVectors(nn.Module):
    """e_word = W₂ [GRU(roles of predicate 1); …; GRU(roles of predicate P)] + b₂ (§3.2)."""

    def __init__(self, roles: int, predicates: int, size: int = 10, hidden: int = 16, out: int = 16):
        super().__init__()
        self.embedding = nn.Embedding(roles, size)
        self.gru = nn.GRU(size, hidden, batch_first=True, bidirectional=True)
        self.join = nn.Linear(predicates * 2 * hidden, out)

    def forward(self, roles: Tensor) -> Tensor:
        """roles: (B, P, W) → (B, W, out)"""
        b, p, w = roles.shape
        e = self.embedding(roles.clamp(min=0)).flatten(0, 1)  # (B·P, W, E)
        lengths = (roles != IGNORE).sum(-1).flatten().cpu()
        packed = pack_padded_sequence(e, lengths, batch_first=True, enforce_sorted=False)
        read = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=w)[0]  # (B·P, W, 2·G)
        return self.join(read.view(b, p, w, -1).transpose(1, 2).flatten(2))  # (B, W, P·2·G) → (B, W, out)


class SemBert(nn.Module):
    """h = [word vector; role vector] → a class for each word. roles: their number; 0, an ablation: no role vectors."""

    def __init__(self, bert: Bert, classes: int, roles: int, predicates: int, out: int = 16):
        super().__init__()
        hidden = bert.config.hidden_size
        self.bert, self.words = bert, WordVectors(hidden)
        self.roles = RoleVectors(roles, predicates, out=out) if roles else None
        self.classifier = nn.Linear(hidden + (out if roles else 0), classes)
        initialize(self.classifier, bert.config.initializer_range)

    def forward(self, batch: RolesBatch, tap: Tap = no_tap) -> RolesOutput:
        x, _ = self.bert(Batch(batch.ids, batch.segments, batch.padding))  # (B, T, H)
        h = tap("words", self.words(x, batch.words))  # (B, W, H)
        if self.roles is not None:
            h = torch.cat([h, tap("roles", self.roles(batch.roles))], -1)  # (B, W, H + out)
        logits = self.classifier(tap("joined", h))  # (B, W, classes)
        if batch.labels is None:
            return RolesOutput(logits)
        return RolesOutput(logits, cross_entropy(logits.flatten(0, 1), batch.labels.flatten()))
