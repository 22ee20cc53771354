"""Splitting a dev set off the training examples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from minibert.tasks import TaskData, label_order


class TooFewError(ValueError):
    """There are too few examples to split some off."""


def split_dev(data: TaskData, share: float = 0.2, seed: int = 0) -> tuple[TaskData, TaskData]:
    """Split the data into train and dev, stratified by class: every class keeps an example in train, and examples with
    the same context stay together. Problems stay with train."""
    rng = torch.Generator().manual_seed(seed)
    groups: dict[Any, dict[Any, list[int]]] = {}
    for i, example in enumerate(data.examples):
        context = getattr(example, "context", None)
        stratum = "" if context is not None else next(iter(example.marks), "")
        groups.setdefault(stratum, {}).setdefault(i if context is None else context, []).append(i)
    dev: set[int] = set()
    for stratum in sorted(groups, key=label_order):
        members = list(groups[stratum].values())
        count = min(round(share * len(members)), len(members) - 1)
        dev.update(i for j in torch.randperm(len(members), generator=rng)[:count].tolist() for i in members[j])
    if not dev:
        if len(groups) == 1 and len(groups.get("", ())) == 1 and len(data.examples) > 1:
            raise TooFewError(
                f"all {len(data.examples)} examples are about one passage, which cannot be divided: give a file to "
                "measure on"
            )
        least = int(0.5 / share) + 1
        raise TooFewError(f"too few examples to set some aside for measuring: give at least {least} of a class")
    train = [i for i in range(len(data.examples)) if i not in dev]
    return data.take(train), replace(data.take(sorted(dev)), problems=[])
