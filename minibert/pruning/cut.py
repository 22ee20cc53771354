"""Cutting: rows and columns are removed, so the matrices get smaller. And a tap with which the whole model computes the
same as the cut one: it verifies the cut, and is used to train a network that will be cut (see search.py)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from minibert.config import BertConfig
from minibert.heads import TaskHead
from minibert.model import Bert
from minibert.pruning.keep import Keep
from minibert.relatives import components_of
from minibert.relatives.parts.pruned_block import PrunedBlock
from minibert.relatives.pruned import PrunedConfig

ALL_LAYERS = ("last", "second_to_last")  # a head's `options.layers` with which layers can be cut


def cut_config(config: BertConfig, keep: Keep) -> PrunedConfig:
    values = {name: value for name, value in config.as_dict().items() if not name.startswith("kept_")}
    sizes = {
        "num_hidden_layers": len(keep.layers),
        "kept_heads": tuple(map(len, keep.heads)),
        "kept_neurons": tuple(map(len, keep.neurons)),
    }
    return PrunedConfig(**{**values, **sizes})


def cut(model: Any, keep: Keep) -> Any:
    """A smaller copy of a BERT, with or without a head of any kind. Raises ValueError if it cannot be cut."""
    keep.check(model.config)
    reads = model.options.layers if isinstance(model, TaskHead) else "last"
    if len(keep.layers) < model.config.num_hidden_layers and reads not in ALL_LAYERS:
        raise ValueError(f"this model reads {reads!r} layers: none of them can go")
    small, config = deepcopy(model), cut_config(model.config, keep)
    encoder = small if isinstance(small, Bert) else small.bert
    small.config = encoder.config = config
    encoder.components = components_of(config)
    blocks = [encoder.blocks[layer] for layer in keep.layers]
    parts = zip(blocks, keep.heads, keep.neurons, strict=True)
    encoder.blocks = nn.ModuleList(cut_block(config, *part) for part in parts)
    return small.train(model.training)


@torch.no_grad()
def cut_block(config: BertConfig, block: Any, heads: Sequence[int], neurons: Sequence[int]) -> nn.Module:
    """A copy of a block with only these heads and neurons."""
    small: Any = PrunedBlock(config, len(heads), len(neurons))
    size = config.head_size
    numbers = torch.tensor([head * size + i for head in heads for i in range(size)], dtype=torch.long)
    rows = torch.tensor(neurons, dtype=torch.long)
    for name in ("query", "key", "value"):
        take(getattr(block.attn, name), getattr(small.attn, name), outputs=numbers)
    take(block.attn.output, small.attn.output, inputs=numbers)
    take(block.mlp.expand, small.mlp.expand, outputs=rows)
    take(block.mlp.contract, small.mlp.contract, inputs=rows)
    for name in ("attn_norm", "mlp_norm"):
        getattr(small, name).load_state_dict(getattr(block, name).state_dict())
    return small


def take(source: nn.Linear, target: nn.Linear, outputs: Tensor | None = None, inputs: Tensor | None = None) -> None:
    """Copy only these rows (outputs) or columns (inputs) of a layer's weights."""
    if outputs is not None:
        target.weight.copy_(source.weight[outputs])
        target.bias.copy_(source.bias[outputs])
    else:
        target.weight.copy_(source.weight[:, inputs])
        target.bias.copy_(source.bias)


class MaskTap:
    """A tap for sequential forward passes of the whole model: dropped heads and neurons output zeros, and a dropped
    layer outputs its input."""

    def __init__(self, keep: Keep, config: BertConfig):
        whole = Keep.whole(config)
        self.masks: dict[str, Tensor] = {}
        self.dropped_layers = {f"blocks.{layer}.out" for layer in set(whole.layers) - set(keep.layers)}
        for layer, heads, neurons in zip(keep.layers, keep.heads, keep.neurons, strict=True):
            for name, subset, full in (("attn.mixed", heads, whole.heads), ("mlp.hidden", neurons, whole.neurons)):
                if len(subset) < len(full[layer]):
                    mask = torch.zeros(len(full[layer]))
                    mask[list(subset)] = 1.0
                    self.masks[f"blocks.{layer}.{name}"] = mask[:, None, None] if name == "attn.mixed" else mask
        self.layer_input: Tensor | None = None

    def __call__(self, name: str, x: Tensor) -> Tensor:
        if name in self.masks:
            return x * self.masks[name].to(x)
        if name == "embeddings.out" or (name.endswith(".out") and name.count(".") == 2 and name.startswith("blocks.")):
            x = x if name not in self.dropped_layers or self.layer_input is None else self.layer_input
            self.layer_input = x
        return x
