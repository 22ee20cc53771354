"""A word predicted with the row before in XLNet's memory: its probabilities, and the positions it attends to."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from minibert.model import IGNORE, Batch
from minibert.relatives.parts.permutation import PermutationLM
from minibert.relatives.parts.segment_memory import guess_on, read_on


@torch.no_grad()
def expected_behind(
    model: PermutationLM, before: Sequence[int], row: Sequence[int], place: int
) -> tuple[Tensor, list[Tensor]]:
    """Predict the word at `place` of `row` from all others, with `before`, unless it is empty, in the memory. →
    (probabilities (V,), attention of its query, (A, M + T) for each layer: M columns of memory, then the row)."""
    seen: dict[str, Tensor] = {}
    ids = torch.tensor([list(row)])
    labels = torch.full_like(ids, IGNORE)
    labels[0, place] = ids[0, place]
    memory = read_on(model.bert, Batch(torch.tensor([list(before)])))[1] if len(before) else None

    def note(name: str, x: Tensor) -> Tensor:
        if name.endswith("attn.probs"):
            seen[name] = x
        return x

    output, _read = guess_on(model, Batch(ids, labels=labels), memory, note)
    columns = len(before) + len(row)
    return output.mlm_logits[0].softmax(-1), [probs[0, :, columns, :columns] for probs in seen.values()]
