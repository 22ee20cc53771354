"""BERT, to be read top to bottom (Devlin et al. 2019, arXiv:1810.04805).

Letters, as in the paper: B batch · T tokens · L layers · H hidden size · A heads · D = H/A head size · F feed-forward
size · V vocabulary · M masked positions of the batch.

Every forward pass takes a `tap`, a function `(name, tensor) → tensor` handed each named intermediate; it returns the
tensor to go on with: the same to record it, another to ablate or patch. Nothing is stored on the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minibert.attention_masks import padding_mask
from minibert.config import IGNORE, BertConfig
from minibert.training.cross_entropy import cross_entropy

Tap = Callable[[str, Tensor], Tensor]

ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
}
SKIP_INIT = ContextVar("skip_init", default=False)  # see `training.skip_init.skip_init`


@dataclass(frozen=True)
class Batch:
    """What a model reads. ids, segments: (B, T) int64 · padding: (B, T) bool, True for real tokens; None if all are.

    labels: (B, T) for masked tokens and tags, (B,) for classes, −100 where there is no target · next_labels: (B,),
    0 where segment B follows segment A, 1 where it is from elsewhere · positions: (B, T) int64, of tokens, if not their
    index in the row · order: (B, T) int64, rank of each token in the order of permutation language modelling.
    """

    ids: Tensor
    segments: Tensor | None = None
    padding: Tensor | None = None
    labels: Tensor | None = None
    next_labels: Tensor | None = None
    positions: Tensor | None = None
    order: Tensor | None = None

    def to(self, device) -> Batch:
        moved = {k: v.to(device, non_blocking=True) for k, v in vars(self).items() if v is not None}
        return replace(self, **moved)

    def split(self, parts: int) -> list[Batch]:
        """The rows in at most `parts` batches of nearly equal size, in order."""
        pieces = {k: v.tensor_split(parts) for k, v in vars(self).items() if v is not None}
        batches = (replace(self, **{k: v[i] for k, v in pieces.items()}) for i in range(parts))
        return [batch for batch in batches if len(batch.ids)]

    @property
    def num_targets(self) -> int:
        """Number of labels other than −100: masked positions, or rows with a class."""
        return 0 if self.labels is None else int((self.labels != IGNORE).sum())

    @property
    def tokens(self) -> int:
        """Real tokens in the batch."""
        return self.ids.numel() if self.padding is None else int(self.padding.sum())


def no_tap(name: str, x: Tensor) -> Tensor:
    return x


def prefix_tap(tap: Tap, prefix: str) -> Tap:
    """The tap for a submodule: adds a prefix to each name."""
    return tap if tap is no_tap else lambda name, x: tap(f"{prefix}.{name}", x)


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """softmax over the last axis, zero where `mask` is False, even if that is a whole row. scores: (B, A, T, T)."""
    if mask is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)


def fused_is_faster(x: Tensor) -> bool:
    """False only in training on a CPU, where the fused kernel's backward pass is slower than the explicit one's."""
    return x.is_cuda or not torch.is_grad_enabled()


class Embeddings(nn.Module):
    """token + segment + position, LayerNorm, dropout (Devlin et al. 2019, §3.1 and figure 2). `width`: H by default."""

    def __init__(self, config: BertConfig, width: int | None = None):
        super().__init__()
        width = width or config.hidden_size
        self.token = nn.Embedding(config.vocab_size, width)
        self.position = nn.Embedding(config.max_position_embeddings, width)
        self.segment = nn.Embedding(config.type_vocab_size, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, tap: Tap = no_tap, positions: Tensor | None = None
    ) -> Tensor:
        segments = torch.zeros_like(ids) if segments is None else segments
        token = tap("token", self.token(ids))  # (B, T, H)
        segment = tap("segment", self.segment(segments))  # (B, T, H)
        position = tap("position", self.places(ids, positions))  # (1, T, H), or (B, T, H)
        x = tap("sum", token + segment + position)  # (B, T, H)
        return tap("out", self.dropout(self.norm(x)))  # (B, T, H)

    def places(self, ids: Tensor, positions: Tensor | None) -> Tensor:
        length = ids.size(1) if positions is None else int(positions.max()) + 1
        if length > self.position.num_embeddings:
            raise ValueError(f"{length} tokens, but there are only {self.position.num_embeddings} positions")
        return self.position.weight[:length].unsqueeze(0) if positions is None else self.position(positions)


class SelfAttention(nn.Module):
    """Multi-head scaled dot-product self-attention (Vaswani et al. 2017, §3.2; Devlin et al. 2019, §3)."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.heads, self.head_size = config.num_attention_heads, config.head_size
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.output = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def forward(self, x: Tensor, mask: Tensor | None = None, tap: Tap = no_tap, **kwargs) -> Tensor:
        # x: (B, T, H); mask: broadcastable to (B, A, T, T), True where attention is allowed; kwargs: see `Components`
        q = tap("query", self.split(self.query(x)))  # (B, A, T, D)
        k = tap("key", self.split(self.key(x)))  # (B, A, T, D)
        v = tap("value", self.split(self.value(x)))  # (B, A, T, D)
        return tap("out", self.output(self.merge(self.attend(q, k, v, mask, tap, **kwargs))))  # (B, T, H)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, tap: Tap = no_tap) -> Tensor:
        """Between the projections: scores, softmax, mix. q, k, v: (B, A, T, D) each → (B, A, T, D)."""
        if tap is no_tap and fused_is_faster(q):
            dropout = self.dropout.p if self.training else 0.0
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        scores = tap("scores", q @ k.transpose(-1, -2) / math.sqrt(self.head_size))  # (B, A, T, T)
        probs = tap("probs", masked_softmax(scores, mask))  # (B, A, T, T), rows sum to 1
        return tap("mixed", self.dropout(probs) @ v)  # (B, A, T, D)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, self.head_size)).transpose(1, 2)  # (B, T, H) → (B, A, T, D)

    def merge(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2).flatten(2)  # (B, A, T, D) → (B, T, H)


class FeedForward(nn.Module):
    """The same two-layer network at every position: H → F → H (Vaswani et al. 2017, §3.3)."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.expand = nn.Linear(config.hidden_size, config.intermediate_size)
        self.contract = nn.Linear(config.intermediate_size, config.hidden_size)
        self.activation = ACTIVATIONS[config.hidden_act]

    def forward(self, x: Tensor, tap: Tap = no_tap) -> Tensor:
        hidden = tap("hidden", self.activation(self.expand(x)))  # (B, T, F)
        return tap("out", self.contract(hidden))  # (B, T, H)


class Block(nn.Module):
    """Attention, then feed-forward, each added to its input and normalised after the sum (post-LN)."""

    def __init__(self, config: BertConfig, attention: Callable[[Any], nn.Module] = SelfAttention):
        super().__init__()
        self.attn = attention(config)
        self.attn_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.mlp = FeedForward(config)
        self.mlp_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, mask: Tensor | None = None, tap: Tap = no_tap, **kwargs) -> Tensor:
        x = x + self.dropout(self.attn(x, mask, prefix_tap(tap, "attn"), **kwargs))  # (B, T, H)
        x = tap("attn.norm", self.attn_norm(x))
        return tap("out", self.mlp_norm(x + self.dropout(self.mlp(x, prefix_tap(tap, "mlp")))))  # (B, T, H)


class Pooler(nn.Module):
    """A dense layer and tanh on [CLS]: the input of next-sentence prediction and classification."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.dense(x[:, 0]))  # (B, T, H) → (B, H)


def stack(block: Callable[[Any], nn.Module] = Block) -> Callable[[Any], list[nn.Module]]:
    """config → L blocks of one kind, each with its own weights."""
    return lambda config: [block(config) for _ in range(config.num_hidden_layers)]


def every_real_token(batch: Batch) -> Tensor | None:
    """BERT's mask: every position attends to every real token. → (B, 1, 1, T), or None without padding."""
    return None if batch.padding is None else padding_mask(batch.padding)


@dataclass(frozen=True)
class Components:
    """What a `Bert` is made of; relatives of BERT replace some of it, and have another model_type.

    From a config: embeddings, (ids, segments, tap, positions) → (B, T, H) · blocks, one per layer · pooler, (B, T, H) →
    (B, H). From a batch: mask, True where attention is allowed, broadcastable to (B, A, T, T) · attention_kwargs of
    every layer. summary: activation of a dense layer between the pooled vector and a task's new layer, or None."""

    embeddings: Callable[[Any], Any] = Embeddings
    blocks: Callable[[Any], Sequence[nn.Module]] = stack(Block)  # noqa: RUF009, a function of the config
    pooler: Callable[[Any], Callable[[Tensor], Tensor]] = Pooler
    mask: Callable[[Batch], Tensor | None] = every_real_token
    attention_kwargs: Callable[[Batch], dict] = lambda batch: {}
    summary: type[nn.Module] | None = None
    model_type: str = "bert"


BERT_COMPONENTS = Components()


class Bert(nn.Module):
    """Embeddings, L blocks, pooler. For a relative's config `minibert.relatives.build` supplies the components."""

    def __init__(self, config: BertConfig, components: Components = BERT_COMPONENTS):
        super().__init__()
        if components.model_type != config.model_type:
            raise ValueError(f"components of {components.model_type} for {config.model_type}: use relatives.build")
        self.config, self.components = config, components
        self.mask, self.attention_kwargs = components.mask, components.attention_kwargs
        self.embeddings = components.embeddings(config)
        self.blocks = nn.ModuleList(components.blocks(config))
        self.pooler = components.pooler(config)
        if not SKIP_INIT.get():
            initialize(self, config.initializer_range)

    def forward(self, batch: Batch, tap: Tap = no_tap, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """→ hidden (B, T, H), pooled (B, H). `mask`: attention mask that replaces the model's own."""
        mask, kwargs = self.mask(batch) if mask is None else mask, self.attention_kwargs(batch)
        x = self.embeddings(batch.ids, batch.segments, prefix_tap(tap, "embeddings"), batch.positions)  # (B, T, H)
        for i, block in enumerate(self.blocks):
            x = block(x, mask, prefix_tap(tap, f"blocks.{i}"), **kwargs)  # (B, T, H)
        return x, tap("pooler.out", self.pooler(x))


class MlmHead(nn.Module):
    """dense → GELU → LayerNorm → decoder, which is the token embedding, transposed: logits of the masked token."""

    def __init__(self, config: BertConfig, token_embedding: nn.Embedding):
        super().__init__()
        width = token_embedding.embedding_dim  # H, or less if the embeddings are factorised
        self.dense = nn.Linear(config.hidden_size, width)
        self.activation = ACTIVATIONS[config.mlm_act]
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.decoder = nn.Linear(width, config.vocab_size)
        if not SKIP_INIT.get():
            initialize(self, config.initializer_range)
        self.decoder.weight = token_embedding.weight  # tied: one matrix, used twice

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.norm(self.activation(self.dense(x))))  # (…, H) → (…, V)


@dataclass(frozen=True)
class PreTrainingOutput:
    """loss = mlm_loss + nsp_loss, each None if the batch has no labels for it.

    mlm_logits: (M, V) at the positions with a label, in reading order, if the batch has labels; else (B, T, V).
    nsp_logits: (B, 2), class 0 = "is the next sentence".
    """

    mlm_logits: Tensor
    nsp_logits: Tensor
    mlm_loss: Tensor | None = None
    nsp_loss: Tensor | None = None

    @property
    def loss(self) -> Tensor:
        losses = [loss for loss in (self.mlm_loss, self.nsp_loss) if loss is not None]
        if not losses:
            raise ValueError("the batch has neither labels nor next_labels: there is no loss")
        return sum(losses[1:], losses[0])


class BertForPreTraining(nn.Module):
    """BERT with both pre-training heads (Devlin et al. 2019, §3.1)."""

    def __init__(self, config: BertConfig, components: Components = BERT_COMPONENTS):
        super().__init__()
        self.config = config
        self.bert = Bert(config, components)
        self.mlm = MlmHead(config, self.bert.embeddings.token)
        self.nsp: nn.Module = nn.Linear(config.hidden_size, 2)
        initialize(self.nsp, config.initializer_range)

    def forward(self, batch: Batch, tap: Tap = no_tap) -> PreTrainingOutput:
        x, pooled = self.bert(batch, tap)  # (B, T, H), (B, H)
        return self.answer(x, pooled, batch, tap)

    def answer(self, x: Tensor, pooled: Tensor, batch: Batch, tap: Tap = no_tap) -> PreTrainingOutput:
        """Both heads' logits and losses from the encoder's output. x: (B, T, H), pooled: (B, H)"""
        nsp_logits = tap("nsp.logits", self.nsp(pooled))  # (B, 2)
        if batch.labels is None:
            mlm_logits, mlm_loss = tap("mlm.logits", self.mlm(x)), None  # (B, T, V)
        else:
            mask = batch.labels != IGNORE  # (B, T): most of a small BERT's work is decoding, so only at labels
            mlm_logits, targets = tap("mlm.logits", self.mlm(x[mask])), batch.labels[mask]  # (M, V), (M,)
            mlm_loss = cross_entropy(mlm_logits, targets)
        nsp_loss = None if batch.next_labels is None else F.cross_entropy(nsp_logits.float(), batch.next_labels)
        return PreTrainingOutput(mlm_logits, nsp_logits, mlm_loss, nsp_loss)


@torch.no_grad()
def initialize(module: nn.Module, std: float) -> None:
    """Truncated normal (±2σ) weights, zero biases, LayerNorm at (1, 0): as in the released code of the paper."""
    for part in module.modules():
        if isinstance(part, (nn.Linear, nn.Embedding)):
            nn.init.trunc_normal_(part.weight, std=std, a=-2 * std, b=2 * std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
