"""P-tuning (Liu et al. 2021, "GPT understands, too", arXiv:2103.10385): learn vectors for the pattern's [unused1] … in
place of words; directly, or as the output of a BiLSTM and two layers on other vectors (§3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

PROMPTS = ("none", "direct", "lstm")


class Prompt(nn.Module):
    """Learned vectors that replace rows of the embedding table.

    rows: the n token ids they replace · table: the embedding, (V, H), for their initial values · through: "direct", or
    "lstm": h = MLP(BiLSTM(e)), which makes neighbours depend on each other. The network's output is added to the
    vectors, and its last layer starts at zero, so that the model does not change before the first step. (In the
    authors' code the output replaces the vectors.)
    """

    def __init__(self, table: nn.Embedding, rows: Sequence[int], through: str = "direct"):
        super().__init__()
        if through not in PROMPTS[1:]:
            raise ValueError(f"a prompt is one of {', '.join(PROMPTS[1:])}, not {through!r}")
        if not rows:
            raise ValueError("a prompt needs tokens to learn: put [unused1] [unused2] … into the pattern")
        self.rows = list(rows)
        width = table.embedding_dim
        self.vectors = nn.Parameter(table.weight.detach()[self.rows].clone())  # (n, H)
        if through == "lstm":
            self.lstm = nn.LSTM(width, width // 2, num_layers=2, bidirectional=True, batch_first=True)
            last = nn.Linear(width, width)
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)
            self.mlp = nn.Sequential(nn.Linear(width // 2 * 2, width), nn.ReLU(), last)

    def forward(self) -> Tensor:
        """(n, H): the vectors that replace the prompt's tokens."""
        if not hasattr(self, "lstm"):
            return self.vectors
        read, _ = self.lstm(self.vectors.unsqueeze(0))  # (1, n, H)
        return self.vectors + self.mlp(read).squeeze(0)

    def tap(self, ids: Tensor, name: str, x: Tensor) -> Tensor:
        """The token vectors, (B, T, H), with those of the prompt inserted; other activations unchanged. ids: (B, T)"""
        if name != "embeddings.token":
            return x
        vectors = self()
        for vector, row in zip(vectors, self.rows, strict=True):
            x = torch.where((ids == row).unsqueeze(-1), vector.to(x.dtype), x)
        return x

    @torch.no_grad()
    def write(self, table: nn.Embedding) -> None:
        """Write the vectors into their rows of the table, which then needs this module no longer."""
        table.weight[self.rows] = self().to(table.weight)


@torch.no_grad()
def nearest_words(table: Tensor, rows: Sequence[int], candidates: Sequence[int], most: int = 5) -> list[list[tuple]]:
    """For each row the entries nearest by cosine: (id, cosine), best first.

    table: (V, H) · candidates: ids to choose from.
    """
    table = nn.functional.normalize(table.float(), dim=-1)
    cosines, indices = (table[list(rows)] @ table[list(candidates)].T).topk(min(most, len(candidates)))  # (n, most)
    return [
        [(candidates[i], cosine) for i, cosine in zip(*row, strict=True)]
        for row in zip(indices.tolist(), cosines.tolist(), strict=True)
    ]
