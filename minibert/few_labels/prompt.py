"""P-tuning (Liu et al. 2021, "GPT understands, too", arXiv:2103.10385): the words of a pattern need not be words. Where
[unused1] … stand, vectors are learned; directly, or as what a BiLSTM and two layers make of others (§3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

PROMPTS = ("none", "direct", "lstm")


class Prompt(nn.Module):
    """Vectors in the place of rows of the embedding table.

    rows: the ids of the tokens they stand for, n of them · table: the embedding, (V, H), from which they begin ·
    through: "direct", or "lstm": h = MLP(BiLSTM(e)), by which neighbours depend on each other. There the vectors begin
    as the table's rows and what the network gives is added, its last layer zero at the start: else the first step
    would already be another model. (The authors' code has the network alone.)
    """

    def __init__(self, table: nn.Embedding, rows: Sequence[int], through: str = "direct"):
        super().__init__()
        if through not in PROMPTS[1:]:
            raise ValueError(f"a prompt is learned {' or through '.join(PROMPTS[1:])}, not {through!r}")
        if not rows:
            raise ValueError("a prompt needs tokens to learn: put [unused1] [unused2] … into the pattern")
        self.rows = list(rows)
        width = table.embedding_dim
        self.vectors = nn.Parameter(table.weight.detach()[self.rows].clone())  # (n, H)
        if through == "lstm":
            self.lstm = nn.LSTM(width, width // 2, num_layers=2, bidirectional=True, batch_first=True)
            self.mlp = nn.Sequential(nn.Linear(width // 2 * 2, width), nn.ReLU(), nn.Linear(width, width))
            nn.init.zeros_(self.mlp[-1].weight)
            nn.init.zeros_(self.mlp[-1].bias)

    def forward(self) -> Tensor:
        """(n, H): what the model reads in the place of the prompt's tokens."""
        if not hasattr(self, "lstm"):
            return self.vectors
        read, _ = self.lstm(self.vectors.unsqueeze(0))  # (1, n, H)
        return self.vectors + self.mlp(read).squeeze(0)

    def instead(self, x: Tensor, ids: Tensor) -> Tensor:
        """The token vectors with the prompt's in their places. x: (B, T, H), ids: (B, T)."""
        vectors = self()
        for place, row in enumerate(self.rows):
            x = torch.where((ids == row).unsqueeze(-1), vectors[place].to(x.dtype), x)
        return x

    @torch.no_grad()
    def write(self, table: nn.Embedding) -> None:
        """Into the rows they stand for: from then on the table says it all."""
        table.weight[self.rows] = self().to(table.weight)


@torch.no_grad()
def nearest_words(table: Tensor, rows: Sequence[int], candidates: Sequence[int], most: int = 5) -> list[list[tuple]]:
    """Of each row the entries whose vectors point most nearly where it does: (id, cosine), the nearest first.

    table: (V, H) · candidates: ids that may be named.
    """
    others = torch.nn.functional.normalize(table[list(candidates)].float(), dim=-1)  # (C, H)
    asked = torch.nn.functional.normalize(table[list(rows)].float(), dim=-1)  # (n, H)
    cosines, places = (asked @ others.T).topk(min(most, len(candidates)), dim=-1)  # (n, most)
    return [
        [(candidates[place], cosine) for place, cosine in zip(*row, strict=True)]
        for row in zip(places.tolist(), cosines.tolist(), strict=True)
    ]
