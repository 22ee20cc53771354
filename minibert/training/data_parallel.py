"""Data-parallel training: processes started by `torchrun` share every batch and add up their gradients.

Written by hand, not with DistributedDataParallel, because the parts of a batch have unequal numbers of masked tokens:
each part's loss is weighted by its share, so the sum over the group is exactly the gradient of the whole batch.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import distributed, nn

PATIENCE = timedelta(hours=12)  # the other processes wait while the first tokenizes the whole text


@dataclass(frozen=True)
class ProcessGroup:
    """The processes of one run; just this one by default. rank: number of this process, from 0."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes files and reports."""
        return self.rank == 0

    def add_up(self, model: nn.Module, terms: dict[str, torch.Tensor]) -> None:
        """Replace gradients and loss terms by their sums over the group. Every process has every term, or a zero."""
        if self.size == 1:
            return
        weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
        parts = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
        flat = torch.cat([part.flatten() for part in parts] + [value.reshape(1).float() for value in terms.values()])
        distributed.all_reduce(flat)
        for weight, total in zip(weights, flat.split([w.numel() for w in weights] + [len(terms)]), strict=False):
            weight.grad = total.view_as(weight)
        terms.update(zip(terms, flat[-len(terms) :], strict=True))

    def first(self, value: float) -> float:
        """Broadcast the value of rank 0."""
        if self.size == 1:
            return value
        values = [value]
        distributed.broadcast_object_list(values, src=0)
        return values[0]

    def wait(self) -> None:
        """Wait until all processes arrive."""
        if self.size > 1:
            distributed.barrier()


def join_process_group() -> ProcessGroup:
    """The group that `torchrun` started this process for; else a group of one. NCCL on GPUs, gloo on CPUs."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return ProcessGroup()
    if not distributed.is_initialized():
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        kind = "nccl" if torch.cuda.is_available() else "gloo"
        distributed.init_process_group(kind, timeout=PATIENCE)
    return ProcessGroup(distributed.get_rank(), size)
