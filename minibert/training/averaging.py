"""The mean of several models' weights: one model, better than each if they lie in the same basin of the loss.

Of one run at different times (Izmailov et al. 2018, Stochastic Weight Averaging) or of several runs from one start
(Wortsman et al. 2022, Model Soups). Models initialized with different random numbers do not lie in one basin, and their
mean is useless.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from minibert import checkpoint


def average(directories: Sequence[str | Path], out: str | Path, dtype: torch.dtype | None = None) -> Path:
    """Write the unweighted mean of the models in `directories` to `out`, with their common tokenizer.

    dtype: of the weights written, float32 by default. Raises CheckpointError if a directory holds no model or another
    kind of model (sizes, head, labels, vocabulary), ValueError for fewer than two.
    """
    first, *others = directories
    if not others:
        raise ValueError("a mean takes two models or more")
    checkpoint.make_ready(out)
    values, tokenizer = described(first), checkpoint.load_tokenizer(first)
    mean = AveragedModel(checkpoint.load(first))
    mean.update_parameters(checkpoint.load(first))
    for directory in others:
        theirs = described(directory)
        if differing := [name for name in {**values, **theirs} if values.get(name) != theirs.get(name)]:
            raise checkpoint.CheckpointError(f"{directory} is another kind of model than {first}: {differing[0]}")
        if checkpoint.load_tokenizer(directory).vocab != tokenizer.vocab:
            raise checkpoint.CheckpointError(f"{directory} has another vocabulary than {first}")
        mean.update_parameters(checkpoint.load(directory))
    notes = {name: value for name, value in values.items() if name.startswith("minibert_")}
    return checkpoint.save(out, mean.module, tokenizer, dtype=dtype, notes=notes)


def described(directory: str | Path) -> dict:
    """The model's config.json, without how its weights were stored and trained."""
    values, left_out = checkpoint.config_values(directory), ("dtype", "transformers_version", checkpoint.OBJECTIVE)
    return {k: v for k, v in values.items() if k not in left_out and "dropout" not in k}


def running_mean(model: nn.Module, share: float) -> AveragedModel:
    """A copy of `model` that follows it: each `update_parameters(model)` moves it by 1/(1 + share · n) of the way, n
    updates after the first. So, however long the run, the weights of time t count about as t^(1/share − 1)
    (polynomial-decay averaging, Shamir and Zhang 2013): a share of 1 weighs all alike, a smaller one favours later
    weights."""

    def follow(means: Any, weights: Any, shown: Tensor | int) -> None:
        torch._foreach_lerp_(means, weights, 1 / (1 + share * int(shown)))

    return AveragedModel(model, multi_avg_fn=follow)
