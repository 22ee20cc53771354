"""Memory of the segment before (Dai et al. 2019, arXiv:1901.02860, §3.2; Yang et al. 2019, arXiv:1906.08237, §2.4):
the input of each layer for one row is kept, and the next row attends to it as to its own past, without gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from minibert.model import Batch, Bert, PreTrainingOutput, Tap, no_tap, prefix_tap
from minibert.relatives.parts.permutation import PermutationLM, with_queries

Memory = Sequence[Tensor]  # each layer's input, (B, M, H) per layer


def read_on(
    bert: Bert, batch: Batch, memory: Memory | None = None, tap: Tap = no_tap, mask: Tensor | None = None
) -> tuple[Tensor, list[Tensor]]:
    """Run a Transformer-XL on a row with memory. mask: (B or 1, 1, T, T), attention within the row; every token attends
    to all of the memory. → (hidden (B, T, H), the input of each layer for this row: the next row's memory).

    Each layer gets memory and row as one longer row, and only its output for the row is kept: the memory does not
    change. Distances extend into the memory; its segment is 0.
    """
    mask = bert.mask(batch) if mask is None else mask
    behind = memory[0].size(1) if memory else 0  # M
    rows, length = batch.ids.shape
    kwargs = dict(bert.attention_kwargs(batch))
    if behind:
        place = torch.arange(length, device=batch.ids.device).expand(rows, -1)
        place = place if batch.positions is None else batch.positions
        older = torch.arange(behind, device=place.device).expand(rows, -1)
        kwargs["positions"] = torch.cat([older, place + behind], 1)  # (B, M + T)
        if batch.segments is not None:
            kwargs["segments"] = F.pad(batch.segments, (behind, 0))
        if mask is not None:
            mask = F.pad(mask.expand(-1, -1, length, -1), (behind, 0, behind, 0), value=True)  # (B, 1, M + T, M + T)
    x, read = bert.embeddings(batch.ids, batch.segments, prefix_tap(tap, "embeddings"), batch.positions), []
    for i, block in enumerate(bert.blocks):
        read.append(x.detach())
        longer = torch.cat([memory[i], x], 1) if memory else x  # (B, M + T, H)
        x = block(longer, mask, prefix_tap(tap, f"blocks.{i}"), **kwargs)[:, behind:]  # (B, T, H)
    return x, read


def guess_on(
    model: PermutationLM, batch: Batch, memory: Memory | None = None, tap: Tap = no_tap
) -> tuple[PreTrainingOutput, list[Tensor]]:
    """`PermutationLM` on a labelled row, with memory. → (output, the next row's memory: of the tokens, which attend to
    each other by the order, without the queries)."""
    longer, mask, real_queries = with_queries(batch, model.config.vocab_size)
    x, read = read_on(model.bert, longer, memory, tap, mask)  # (B, T + M', H), M' queries
    return model.predict(x, real_queries, batch, tap), [layer[:, : batch.ids.size(1)] for layer in read]


def whole(batch: Batch) -> Batch:
    """The row without labels and order, so that all its tokens are visible."""
    return replace(batch, labels=None, order=None)
