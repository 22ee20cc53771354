"""A narrow embedding and a projection to H (Lan et al. 2020, arXiv:1909.11942, §3.1): ALBERT's, and ELECTRA's."""

from __future__ import annotations

from torch import Tensor, nn

from minibert.model import Embeddings, Tap, no_tap


class FactorisedEmbeddings(Embeddings):
    """BERT's embeddings, E wide, then one matrix to H: V·E + E·H numbers in the place of V·H (§3.1). The config has an
    `embedding_size`."""

    def __init__(self, config) -> None:
        super().__init__(config, config.embedding_size)
        self.projection = nn.Linear(config.embedding_size, config.hidden_size)

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, tap: Tap = no_tap, positions: Tensor | None = None
    ) -> Tensor:
        narrow = super().forward(ids, segments, lambda name, x: x if name == "out" else tap(name, x), positions)
        return tap("out", self.projection(tap("narrow", narrow)))  # (B, T, E) → (B, T, H)
