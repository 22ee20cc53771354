"""Change one thing inside a running BERT and measure what comes out: taps, no change to the model itself.

An intervention is a tap `(name, tensor) → tensor`. Where many are compared (every head switched off in turn), they run
as one batch of copies of the same sequence, each copy with its own change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from minibert.inside.model_input import ModelInput
from minibert.model import IGNORE, Batch, Tap, no_tap

ROWS = 256  # copies per forward pass, at most


def scale_scores(factor: float) -> Tap:
    """Multiply every attention score before softmax. √D undoes the division by √D."""
    return lambda name, x: x * factor if name.endswith(".attn.scores") else x


def without_positions(name: str, x: Tensor) -> Tensor:
    """Zero position embeddings and the terms for distances: the model can no longer tell the order of the tokens."""
    places = name == "embeddings.position" or name.endswith((".attn.relative", ".attn.distances"))
    return torch.zeros_like(x) if places else x


def one_pattern(name: str, x: Tensor) -> Tensor:
    """Give all heads of a layer the same attention, their mean. Their values stay their own."""
    return x.mean(1, keepdim=True).expand_as(x) if name.endswith(".attn.probs") else x


@torch.inference_mode()
def fill_logits(model: nn.Module, batch: Batch, position: int, tap: Tap = no_tap) -> Tensor:
    """The model's logits at `position`: (B, V). Computes the decoder there only."""
    labels = torch.full_like(batch.ids, IGNORE)
    labels[:, position] = 0  # any id: it marks where to predict; the loss is not used
    return model(replace(batch, labels=labels), tap).mlm_logits.float()


def fill_in(model: nn.Module, batch: Batch, position: int, tap: Tap = no_tap) -> Tensor:
    """The distribution predicted at `position`: (B, V), rows sum to 1."""
    return fill_logits(model, batch, position, tap).softmax(-1)


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """½ Σ|p − q| along the last axis: the share of probability that moved, 0 … 1."""
    return (p - q).abs().sum(-1) / 2


# ------------------------------------------------------------------------------------------------ padding and order
@dataclass(frozen=True)
class PaddingLeak:
    """The prediction at one position with 0, 1, 2 … padding tokens. masked, unmasked: (N + 1, V), rows sum to 1.

    share: (N + 1,), how much of the real tokens' attention goes to padding without the mask, mean of all heads.
    """

    masked: Tensor
    unmasked: Tensor
    share: Tensor


@torch.inference_mode()
def padding_leak(model: nn.Module, reading: ModelInput, position: int, most: int) -> PaddingLeak:
    """Pad a sequence with 0 … `most` tokens, and read it with the padding mask and without."""
    masked, unmasked, share = [], [], []
    for count in range(most + 1):
        batch = reading.padded(count).batch()
        rows: list[Tensor] = []

        def watch(name: str, x: Tensor, rows: list[Tensor] = rows) -> Tensor:
            if name.endswith(".attn.probs"):
                rows.append(x[0, :, : reading.length, reading.length :].sum(-1))  # (A, real tokens)
            return x

        masked.append(fill_in(model, batch, position)[0])
        unmasked.append(fill_in(model, replace(batch, padding=None), position, watch)[0])
        share.append(torch.stack(rows).mean())
    return PaddingLeak(torch.stack(masked), torch.stack(unmasked), torch.stack(share))


@dataclass(frozen=True)
class OrderEffect:
    """Two orders of the same tokens. moved: (T,), how far each token's last hidden vector moves, |a − b| / |a|.

    here, there: (V,), the prediction for the same token in the given and in the other order.
    """

    moved: Tensor
    here: Tensor
    there: Tensor


@torch.inference_mode()
def order_effect(
    model: Any, reading: ModelInput, order: Sequence[int], position: int, tap: Tap = no_tap
) -> OrderEffect:
    """Compare a sequence with the same tokens in `order`, token by token, not slot by slot. model: with a `.bert`."""
    other = reading.reordered(order)
    slot = [order.index(token) for token in range(len(order))]  # the new slot of each token
    here, there = (model.bert(one.batch(), tap)[0][0] for one in (reading, other))  # (T, H)
    moved = (here - there[slot]).norm(dim=-1) / here.norm(dim=-1)
    guesses = (fill_in(model, reading.batch(), position, tap), fill_in(model, other.batch(), slot[position], tap))
    return OrderEffect(moved, guesses[0][0], guesses[1][0])


# ------------------------------------------------------------------------------------------------- heads, one by one
Edit = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class HeadEdit:
    """A change to one head. tap: "probs", edited as (T, T), or "mixed", edited as (T, D)."""

    layer: int
    head: int
    tap: str
    edit: Edit


def edited(edits: Sequence[HeadEdit]) -> Tap:
    """A tap for a batch with as many rows as edits: row b runs with edit b and no other."""
    at: dict[str, list[tuple[int, HeadEdit]]] = defaultdict(list)
    for row, edit in enumerate(edits):
        at[f"blocks.{edit.layer}.attn.{edit.tap}"].append((row, edit))

    def tap(name: str, x: Tensor) -> Tensor:
        if name in at:
            x = x.clone()
            for row, edit in at[name]:
                x[row, edit.head] = edit.edit(x[row, edit.head])
        return x

    return tap


def removed(layer: int, head: int) -> HeadEdit:
    """The head's output is zero."""
    return HeadEdit(layer, head, "mixed", torch.zeros_like)


def evened(layer: int, head: int, real: Tensor) -> HeadEdit:
    """The head attends to all real tokens equally, from every position. real: (T,) bool."""
    return HeadEdit(layer, head, "probs", lambda probs: (real / real.sum()).to(probs.dtype).expand_as(probs))


def shuffled(layer: int, head: int, real: Tensor, rng: torch.Generator) -> HeadEdit:
    """The weights of every row are permuted among the real tokens: as sharp as before, on other tokens."""
    columns = real.nonzero().squeeze(1)  # (n,)
    deal = torch.rand(len(real), len(columns), generator=rng).argsort(dim=1)  # (T, n): a permutation for each row

    def edit(probs: Tensor) -> Tensor:
        probs = probs.clone()
        probs[:, columns] = probs[:, columns].gather(1, deal)
        return probs

    return HeadEdit(layer, head, "probs", edit)


def fill_in_edited(model: Any, batch: Batch, position: int, edits: Sequence[HeadEdit]) -> Tensor:
    """`fill_in` of a single sequence under each edit on its own: (len(edits), V)."""
    rows, parts = zip(*layer_by_layer(model, batch, position, edits), strict=True)
    return torch.cat(parts)[torch.cat(rows).argsort()]


@torch.inference_mode()
def layer_by_layer(
    model: Any, batch: Batch, position: int, edits: Sequence[HeadEdit]
) -> Iterator[tuple[Tensor, Tensor]]:
    """`fill_in_edited` in parts: which edits, (N,), and what is filled in with them, (N, V). model: with `.bert` and
    `.mlm`.

    The edits of a layer share what lies below it: only there does the sequence become N copies. Of the last layer's
    feed-forward network only `position` is computed.
    """
    layers = torch.tensor([edit.layer for edit in edits])
    for layer in layers.unique():
        for rows in (layers == layer).nonzero().squeeze(1).split(ROWS):
            tap = parted([edits[row] for row in rows], model.config.num_hidden_layers - 1, position)
            x, _pooled = model.bert(batch, tap)  # (N, 1, H)
            yield rows, model.mlm(x[:, 0]).float().softmax(-1)


def parted(edits: Sequence[HeadEdit], last: int, position: int) -> Tap:
    """`edited` for a batch of one row, which becomes a row per edit in the layer that all of them change; only
    `position` goes on into the feed-forward network of the layer `last`."""
    change = edited(edits)

    def tap(name: str, x: Tensor) -> Tensor:
        if name == f"blocks.{edits[0].layer}.attn.probs":
            x = x.expand(len(edits), *x.shape[1:])
        elif name == f"blocks.{last}.attn.norm":
            x = x[:, position, None]
        return change(name, x)

    return tap


def repeated(batch: Batch, rows: int) -> Batch:
    """`rows` copies of a single sequence."""
    return replace(batch, **{name: x.expand(rows, *x.shape[1:]) for name, x in vars(batch).items() if x is not None})


@dataclass(frozen=True)
class HeadEffects:
    """What changing each head does to a prediction. All (L, A); effects are total variations, 0 … 1.

    weight: the largest weight in the row of the predicted position, intact · shuffled: mean of several permutations.
    """

    weight: Tensor
    removed: Tensor
    evened: Tensor
    shuffled: Tensor


@torch.inference_mode()
def head_effects(model: Any, batch: Batch, position: int, *, deals: int = 5, seed: int = 0) -> HeadEffects:
    """Remove, even out and shuffle each head in turn; batch: one sequence, `position` the token to predict."""
    config = model.config
    real = torch.ones_like(batch.ids[0], dtype=torch.bool) if batch.padding is None else batch.padding[0]
    rng = torch.Generator().manual_seed(seed)
    weight = []

    def watch(name: str, x: Tensor) -> Tensor:
        if name.endswith(".attn.probs"):
            weight.append(x[0, :, position].amax(-1))  # (A,)
        return x

    intact = fill_in(model, batch, position, watch)  # (1, V)
    heads = [(i, a) for i in range(config.num_hidden_layers) for a in range(config.num_attention_heads)]
    edits = [removed(*at) for at in heads] + [evened(*at, real) for at in heads]
    edits += [shuffled(*at, real, rng) for _ in range(deals) for at in heads]
    effects = torch.empty(len(edits))
    for rows, probs in layer_by_layer(model, batch, position, edits):
        effects[rows] = total_variation(probs, intact)
    effects = effects.unflatten(0, (2 + deals, config.num_hidden_layers, config.num_attention_heads))
    return HeadEffects(torch.stack(weight), effects[0], effects[1], effects[2:].mean(0))


@torch.inference_mode()
def token_effects(model: nn.Module, batch: Batch, position: int) -> tuple[Tensor, Tensor]:
    """For each token: the attention `position` pays to it (mean over all layers and heads), and what hiding it changes.

    → weight (T,), effect (T,): a total variation; NaN at `position` itself and at padding. A token is hidden by masking
    its column from every position in every layer, like padding.
    """
    real = torch.ones_like(batch.ids[0], dtype=torch.bool) if batch.padding is None else batch.padding[0]
    rows = []

    def watch(name: str, x: Tensor) -> Tensor:
        if name.endswith(".attn.probs"):
            rows.append(x[0, :, position])  # (A, T)
        return x

    intact = fill_in(model, batch, position, watch)
    weight = torch.cat(rows).mean(0)
    hideable = real.clone()
    hideable[position] = False
    hidden = hideable.nonzero().squeeze(1)  # (n,)
    effect = torch.full_like(weight, torch.nan)
    if len(hidden):
        copies = repeated(batch, len(hidden))
        closed = real.expand(len(hidden), -1).clone()
        closed[torch.arange(len(hidden)), hidden] = False
        effect[hidden] = total_variation(fill_in(model, replace(copies, padding=closed), position), intact)
    return weight, effect


# --------------------------------------------------------------------------------------------- several heads at once
HeadAt = tuple[int, int]  # layer, head, both from 0


def switched_off(heads: Collection[HeadAt], means: Tensor | None = None) -> Tap:
    """A tap that sets the output of these heads to zero, or, with `means` (L, A, D), to their mean at every position.

    The same for every row of a batch. Michel et al. 2019 use zeros; a mean keeps what the head adds to any text, and
    removes only what it adds to this one.
    """
    at: dict[str, list[HeadAt]] = defaultdict(list)
    for layer, head in sorted(heads):
        at[f"blocks.{layer}.attn.mixed"].append((layer, head))

    def tap(name: str, x: Tensor) -> Tensor:
        if name in at:
            x = x.clone()  # (B, A, T, D)
            for layer, head in at[name]:
                x[:, head] = 0 if means is None else means[layer, head].to(x.dtype)
        return x

    return tap


@torch.inference_mode()
def mean_over_tokens(model: Any, batches: Sequence[Batch], tap: str, of: Edit = lambda x: x) -> Tensor:
    """The mean of `of(x)` over all real tokens of the batches, where x is a tap of attention: (L, A, …).

    tap: "mixed", "probs", …; `of`: (B, A, T, …) → (B, A, T, …). model: one with a `.bert`.
    """
    sums: dict[str, Tensor] = {}
    count = 0
    for batch in batches:
        real = torch.ones_like(batch.ids, dtype=torch.bool) if batch.padding is None else batch.padding

        def watch(name: str, x: Tensor, real: Tensor = real) -> Tensor:
            if name.endswith(f".attn.{tap}"):
                sums[name] = sums.get(name, 0) + of(x).transpose(1, 2)[real].double().sum(0)  # (A, …)
            return x

        model.bert(batch, watch)
        count += int(real.sum())
    return (torch.stack(list(sums.values())) / count).float()


def mean_outputs(model: nn.Module, batches: Sequence[Batch]) -> Tensor:
    """The output of each head, averaged over all real tokens of the batches: (L, A, D)."""
    return mean_over_tokens(model, batches, "mixed")
