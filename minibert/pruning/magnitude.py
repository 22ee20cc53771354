"""Unstructured pruning: the smallest weights become 0 and stay 0 (Han et al. 2015, arXiv:1506.02626, §3). Matrices keep
their size; only a compressed file gets smaller."""

from __future__ import annotations

import zlib
from copy import deepcopy
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn

from minibert.model import Bert


def pruned_weights(model: Any) -> dict[str, Tensor]:
    """The matrices of all blocks, by name; embeddings, norms, biases and the head are not pruned."""
    encoder = model if isinstance(model, Bert) else model.bert
    names = [f"{name}.weight" for name, part in encoder.blocks.named_modules() if isinstance(part, nn.Linear)]
    weights = dict(encoder.blocks.named_parameters())
    return {name: weights[name] for name in names}


@torch.no_grad()
def magnitude_masks(model: nn.Module, share: float) -> dict[str, Tensor]:
    """False for this share of the blocks' weights: those smallest in magnitude, over all matrices together."""
    if not 0 <= share <= 1:
        raise ValueError(f"a share is from 0 to 1, not {share}")
    weights = pruned_weights(model)
    every = torch.cat([weight.abs().flatten() for weight in weights.values()])
    mask = torch.ones_like(every, dtype=torch.bool)
    mask[every.topk(round(share * every.numel()), largest=False).indices] = False
    parts = mask.split([weight.numel() for weight in weights.values()])
    return {name: part.view_as(weights[name]) for name, part in zip(weights, parts, strict=True)}


@torch.no_grad()
def zero(model: nn.Module, masks: dict[str, Tensor]) -> None:
    """Set weights to 0 where the masks are False."""
    for name, weight in pruned_weights(model).items():
        weight.mul_(masks[name].to(weight))


def zeroed(model: nn.Module, masks: dict[str, Tensor]) -> nn.Module:
    """A copy with weights set to 0 where the masks are False."""
    copy = deepcopy(model)
    zero(copy, masks)
    return copy


def file_bytes(model: nn.Module) -> tuple[int, int]:
    """(size of the weights' file, its size compressed with deflate, as zip does)."""
    tensors, ids = {}, set()
    for name, weight in model.state_dict(keep_vars=True).items():
        if id(weight) not in ids:
            tensors[name] = weight.detach().contiguous()
            ids.add(id(weight))
    data = save(tensors)
    return len(data), len(zlib.compress(data, 6))
