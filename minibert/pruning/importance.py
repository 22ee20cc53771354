"""The importance of heads, neurons and layers: by one gradient for all (Michel et al. 2019, §4), or exactly, by the
loss of the model without each, which costs a pass for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from minibert.finetune.predictor import Predictor
from minibert.heads import TaskBatch
from minibert.inside.heads.cost import answers, difference, without
from minibert.pruning.cut import cut
from minibert.pruning.keep import Keep, sizes_of

ROWS = 32  # rows per batch


@dataclass(frozen=True)
class Importance:
    """heads, neurons: for each layer, a value for each head or neuron."""

    heads: list[list[float]]
    neurons: list[list[float]]


def batches_of(predictor: Predictor, examples: Sequence) -> list[TaskBatch]:
    """Batches of the examples that have labels. Raises ValueError unless the task has one label per text."""
    if getattr(predictor.model, "problem", "") != "single_label_classification":
        raise ValueError(f"importance is measured of a model that tells classes apart, not of {predictor.task.name}")
    rows = [row for row in predictor.features(examples) if row.target is not None]
    if not rows:
        raise ValueError("there is no example with a label to measure importance on")
    rows = sorted(rows, key=lambda row: row.length)
    return [predictor.task.batch(rows[i : i + ROWS], predictor.tokenizer.pad_id) for i in range(0, len(rows), ROWS)]


def importance(model: Any, batches: Sequence[TaskBatch]) -> Importance:
    """I = E_x |∂L(x)/∂ξ|, where ξ = 1 multiplies a head's output or a neuron's (Michel et al. 2019, equation 2). By the
    chain rule that is |Σ output · ∂L/∂output|: activation times gradient."""
    heads, neurons = sizes_of(model.config)
    sums = {f"blocks.{i}.attn.mixed": torch.zeros(n, dtype=torch.double) for i, n in enumerate(heads)}
    sums |= {f"blocks.{i}.mlp.hidden": torch.zeros(n, dtype=torch.double) for i, n in enumerate(neurons)}
    training, texts = model.training, 0
    model.eval()
    for batch in batches:
        gates: dict[str, Tensor] = {}

        def tap(name: str, x: Tensor, gates: dict[str, Tensor] = gates) -> Tensor:
            if name not in sums:
                return x
            shape = (x.size(0), x.size(1), 1, 1) if name.endswith("mixed") else (x.size(0), 1, x.size(2))
            gates[name] = torch.ones(shape, dtype=x.dtype, device=x.device, requires_grad=True)
            return x * gates[name]

        with torch.enable_grad():
            loss = model(batch, tap).loss * len(batch.ids)  # the sum over texts, each with gates of its own
            slopes = torch.autograd.grad(loss, list(gates.values()))
        for name, slope in zip(gates, slopes, strict=True):
            sums[name] += slope.double().abs().flatten(1).sum(0).cpu()
        texts += len(batch.ids)
    model.train(training)
    means = {name: (x / max(texts, 1)).tolist() for name, x in sums.items()}
    kinds = ([means[f"blocks.{i}.{kind}"] for i in range(len(heads))] for kind in ("attn.mixed", "mlp.hidden"))
    return Importance(*kinds)


def losses_without_heads(model: Any, batches: Sequence[TaskBatch]) -> list[list[float]]:
    """How much the loss rises without each single head."""
    intact = answers(model, batches)
    return [
        [difference(without(model, batches, {(layer, head)}).losses, intact.losses).mean for head in range(count)]
        for layer, count in enumerate(sizes_of(model.config)[0])
    ]


def losses_without_layers(model: Any, batches: Sequence[TaskBatch]) -> list[float]:
    """How much the loss rises without each single layer; 0 for a model with only one."""
    intact, whole = answers(model, batches), Keep.whole(model.config)
    if len(whole.layers) == 1:
        return [0.0]
    smaller = (cut(model, whole.without_layers({layer})) for layer in whole.layers)
    return [difference(answers(one, batches).losses, intact.losses).mean for one in smaller]
