"""A linear-chain conditional random field (Lafferty et al. 2001): tags are judged as a chain, not one by one.

Letters: B batch · T words · K tags. emissions: (B, T, K), how well each tag suits each word · mask: (B, T) bool, True
where there is a word; words stand before padding.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

TINY = torch.finfo(torch.float32).tiny


class Crf(nn.Module):
    """score(tags) = first[y₁] + Σ_t emissions[t, y_t] + Σ_t steps[y_{t−1}, y_t] + last[y_T]; p(tags) = e^score / Z."""

    def __init__(self, tags: int):
        super().__init__()
        self.steps = nn.Parameter(torch.zeros(tags, tags))  # (from, to)
        self.first = nn.Parameter(torch.zeros(tags))
        self.last = nn.Parameter(torch.zeros(tags))

    def score(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Of one path a row. tags: (B, T), whatever where there is no word → (B,)"""
        tags = tags.clamp(min=0)
        ends = mask.sum(1) - 1  # (B,), −1 where there is no word at all
        single = emissions.gather(2, tags.unsqueeze(2)).squeeze(2)  # (B, T)
        steps = self.steps[tags[:, :-1], tags[:, 1:]]  # (B, T − 1)
        at_end = tags.gather(1, ends.clamp(min=0).unsqueeze(1)).squeeze(1)  # (B,)
        inside = (single * mask).sum(1) + (steps * mask[:, 1:]).sum(1)
        return torch.where(ends >= 0, inside + self.first[tags[:, 0]] + self.last[at_end], 0.0)

    def log_partition(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """log Z: of all K^T paths at once, by the forward algorithm in T·K² sums → (B,)

        log Σ_i e^(α_i + steps_ij) is computed as a product with the matrix e^steps, the largest α taken out before.
        """
        if not mask.any():
            return emissions.sum((1, 2))  # of nothing: zeros
        alpha = self.first + emissions[:, 0]  # (B, K): of all paths that end with each tag
        largest_step = self.steps.detach().max()
        steps = (self.steps - largest_step).exp()
        for t in range(1, emissions.size(1)):
            largest = alpha.detach().amax(1, keepdim=True)  # (B, 1)
            summed = ((alpha - largest).exp() @ steps).clamp(min=TINY).log() + largest + largest_step
            further = summed + emissions[:, t]  # (B, K)
            alpha = torch.where(mask[:, t].unsqueeze(1), further, alpha)
        return torch.where(mask.any(1), torch.logsumexp(alpha + self.last, dim=1), 0.0)

    def forward(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """−log p(tags) a word, over the batch."""
        lost = self.log_partition(emissions, mask) - self.score(emissions, tags, mask)  # (B,)
        return lost.sum() / mask.sum().clamp(min=1)

    @torch.no_grad()
    def best(self, emissions: Tensor, mask: Tensor) -> list[list[int]]:
        """The likeliest path of each row (Viterbi 1967): the forward algorithm with maxima in the place of sums, and a
        note of where each maximum came from."""
        if not mask.any():
            return [[] for _ in mask]
        alpha, came_from = self.first + emissions[:, 0], []  # (B, K)
        for t in range(1, emissions.size(1)):
            top, source = (alpha.unsqueeze(2) + self.steps).max(dim=1)  # (B, K) each
            alpha = torch.where(mask[:, t].unsqueeze(1), top + emissions[:, t], alpha)
            came_from.append(source)
        last, lengths, paths = (alpha + self.last).argmax(1), mask.sum(1).tolist(), []
        for row, length in enumerate(lengths):
            path = [int(last[row])]
            for source in reversed(came_from[: max(0, length - 1)]):
                path.append(int(source[row, path[-1]]))
            paths.append(path[::-1] if length else [])
        return paths

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """(B, T, K): how probable each tag is at each word, over all paths. It is the slope of log Z: what the backward
        algorithm computes is its gradient."""
        with torch.enable_grad():
            asked = emissions.detach().requires_grad_()
            (slope,) = torch.autograd.grad(self.log_partition(asked, mask).sum(), asked)
        return slope
