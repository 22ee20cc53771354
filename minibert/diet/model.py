"""DIET, the Dual Intent and Entity Transformer (Bunk et al. 2020, arXiv:2004.09936, §3).

Letters: B batch · T words, then __CLS__ · H width · K tags · I intents · M masked words · E size of the similarity
space.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.attention_masks import padding_mask
from minibert.config import check_positive
from minibert.diet.crf import Crf
from minibert.diet.rows import DietBatch
from minibert.model import IGNORE, Block, Tap, no_tap, prefix_tap
from minibert.relatives.nezha import NezhaConfig, RelativeAttention

FEATURES = ("both", "sparse", "dense")
MASKED = 0.15  # share of words to mask, of which 70 % become __MASK__ and 10 % another word (§3)
AS_MASK, AS_OTHER = 0.7, 0.1


@dataclass(frozen=True)
class DietConfig:
    """features: "both", "sparse" or "dense" · dense_size: H of the frozen encoder, 0 without one · similar_size: of the
    space that compares requests with intents, and masked positions with words · negatives: sampled per example ·
    mask_loss: whether to predict masked words · furthest: distances beyond it are treated as equal."""

    features: str = "both"
    dense_size: int = 0
    sparse_size: int = 256
    width: int = 256
    layers: int = 2
    heads: int = 4
    furthest: int = 5
    similar_size: int = 20
    negatives: int = 20
    mask_loss: bool = True
    dropout: float = 0.2
    sparse_dropout: float = 0.2

    def __post_init__(self) -> None:
        if self.features not in FEATURES:
            raise ValueError(f"features must be one of {', '.join(FEATURES)}, not {self.features!r}")
        if (self.features != "sparse") != (self.dense_size > 0):
            raise ValueError(f"the features {self.features!r} do not go with an encoder of {self.dense_size} numbers")
        check_positive(self, "sparse_size", "width", "layers", "heads", "furthest", "similar_size", "negatives")
        if self.width % self.heads:
            raise ValueError(f"the width {self.width} cannot be shared by {self.heads} heads")

    @classmethod
    def from_dict(cls, values: dict) -> DietConfig:
        return cls(**{field.name: values[field.name] for field in fields(cls) if field.name in values})

    @property
    def block_config(self) -> NezhaConfig:
        return NezhaConfig(
            vocab_size=1,
            hidden_size=self.width,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            intermediate_size=4 * self.width,
            hidden_dropout_prob=self.dropout,
            attention_probs_dropout_prob=self.dropout,
            max_relative_position=self.furthest,
        )


class LearnedDistances(RelativeAttention):
    """NEZHA's attention with learned distance vectors, shared by keys and values (Shaw et al. 2018)."""

    def __init__(self, config: NezhaConfig):
        super().__init__(config)
        size = self.get_buffer("sinusoids").shape
        del self.sinusoids
        self.register_parameter("sinusoids", nn.Parameter(torch.empty(size)))
        nn.init.normal_(self.sinusoids, std=0.02)


@dataclass(frozen=True)
class DietOutput:
    """hidden: (B, T, H) · request: (B, E), __CLS__ among the intents · similarities: (B, I) · emissions: (B, T − 1, K)
    · losses: "intent", "entities", "mask", and "loss", their sum."""

    hidden: Tensor
    request: Tensor
    similarities: Tensor
    emissions: Tensor
    losses: dict[str, Tensor]


class Diet(nn.Module):
    """Features → a vector per word → two layers of attention → tags by the CRF, and a point in the space of intents."""

    def __init__(self, config: DietConfig, features: int, intents: int, tags: int):
        super().__init__()
        self.config = config
        size = config.dense_size
        if config.features != "dense":
            self.sparse = nn.EmbeddingBag(features, config.sparse_size, mode="sum")  # a matrix times a 0/1 vector
            self.sparse_bias = nn.Parameter(torch.zeros(config.sparse_size))
            nn.init.normal_(self.sparse.weight, std=0.05)
            size += config.sparse_size
        self.joined = nn.Linear(size, config.width)
        self.norm = nn.LayerNorm(config.width)
        self.hidden_word = nn.Parameter(torch.empty(config.width))  # __MASK__
        nn.init.normal_(self.hidden_word, std=0.02)
        self.blocks = nn.ModuleList(Block(config.block_config, LearnedDistances) for _ in range(config.layers))
        self.dropout = nn.Dropout(config.dropout)
        self.emissions = nn.Linear(config.width, tags)
        self.crf = Crf(tags)
        self.request = nn.Linear(config.width, config.similar_size)
        self.intents = nn.Embedding(intents, config.similar_size)
        nn.init.normal_(self.intents.weight, std=config.similar_size**-0.5)
        self.place = nn.Linear(config.width, config.similar_size) if config.mask_loss else None
        self.word = nn.Linear(config.width, config.similar_size) if config.mask_loss else None

    def features(self, batch: DietBatch, tap: Tap = no_tap) -> Tensor:
        """Both kinds of features, each through its own layer, joined → (B, T, H)"""
        features = []
        if self.config.features != "dense":
            weights = None
            if self.training and self.config.sparse_dropout:  # dropout on the ones
                rate = 1 - self.config.sparse_dropout
                weights = (torch.rand(batch.features.shape, device=batch.features.device) < rate) / rate
            x = self.sparse(batch.features, batch.starts, per_sample_weights=weights)  # (B·T, sparse size)
            features.append(tap("sparse", F.relu(x + self.sparse_bias).unflatten(0, batch.padding.shape)))
        if batch.dense is not None:
            features.append(tap("dense", batch.dense))
        return tap("joined", self.norm(self.joined(self.dropout(torch.cat(features, dim=-1)))))  # (B, T, H)

    def forward(self, batch: DietBatch, tap: Tap = no_tap) -> DietOutput:
        x = features = self.features(batch, tap)  # (B, T, H)
        masked = torch.zeros_like(batch.padding)
        if masks := self.training and self.place is not None:
            masked[:, :-1] = batch.words & (torch.rand(batch.words.shape, device=x.device) < MASKED)
            x = self.mask_words(features, masked, batch.words)
        mask = padding_mask(batch.padding)
        for i, block in enumerate(self.blocks):
            x = block(x, mask, prefix_tap(tap, f"blocks.{i}"))  # (B, T, H)
        cls = x[torch.arange(len(x), device=x.device), batch.padding.sum(1) - 1]  # (B, H)
        request = tap("request", self.request(cls))  # (B, E)
        similarities = tap("similarities", request @ self.intents.weight.T)  # (B, I)
        emissions = tap("emissions", self.emissions(x[:, :-1]))  # (B, T − 1, K)
        losses = {}
        if batch.intents is not None and (known := batch.intents != IGNORE).any():
            labels = batch.intents[known]
            positives = F.one_hot(labels, self.intents.num_embeddings).bool()
            losses["intent"] = self.similarity_loss(similarities[known], labels, positives)
        if batch.tags is not None and batch.words.any():
            losses["entities"] = self.crf(emissions.float(), batch.tags, batch.words)
        if masks and batch.names is not None:
            losses["mask"] = self.mask_loss(x[masked], features[masked], batch.names[masked[:, :-1]])
        total: Any = sum(losses.values())
        return DietOutput(x, request, similarities, emissions, {**losses, "loss": total})

    def similarity_loss(self, similarities: Tensor, labels: Tensor, positives: Tensor) -> Tensor:
        return sampled_softmax_loss(similarities.float(), labels, positives, self.config.negatives)

    def mask_loss(self, x: Tensor, words: Tensor, names: Tensor) -> Tensor:
        """Loss of finding each masked word among all masked words of the batch. x, words: (M, H) · names: (M,)"""
        if self.place is None or self.word is None or not len(names):
            return x.sum()  # no masked words: zero, with a gradient
        labels = torch.arange(len(names), device=names.device)
        return self.similarity_loss(self.place(x) @ self.word(words).T, labels, names[:, None] == names[None, :])

    def mask_words(self, x: Tensor, masked: Tensor, words: Tensor) -> Tensor:
        """Masked positions: 70 % become __MASK__, 10 % another word's vector, 20 % stay. x: (B, T, H)"""
        if not words.any():
            return x
        draws = torch.rand(masked.shape, device=x.device)
        all_words = x[:, :-1][words]  # (N, H)
        other = masked & (draws >= AS_MASK) & (draws < AS_MASK + AS_OTHER)
        indices = torch.randint(len(all_words), (int(other.sum()),), device=x.device)
        x = torch.where((masked & (draws < AS_MASK)).unsqueeze(-1), self.hidden_word, x)
        return x.masked_scatter(other.unsqueeze(-1), all_words[indices].to(x.dtype))


def sampled_softmax_loss(similarities: Tensor, labels: Tensor, positives: Tensor, num_negatives: int) -> Tensor:
    """−log softmax of each row's label among itself and sampled negatives (§3, after Wu et al. 2018).

    similarities: (N, C) · labels: (N,), of C candidates · positives: (N, C), True where a candidate is no negative.
    """
    candidates = ~positives
    if similarities.size(1) > num_negatives:
        draws = torch.rand(similarities.shape, device=similarities.device).masked_fill(positives, -1.0)
        candidates &= draws >= draws.topk(num_negatives, dim=1).values[:, -1:]
    candidates = candidates.scatter(1, labels.unsqueeze(1), True)
    return F.cross_entropy(similarities.masked_fill(~candidates, float("-inf")), labels)
