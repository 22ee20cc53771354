"""A linear-chain conditional random field (Lafferty et al. 2001): scores whole sequences of tags, not single tags.

Letters: B batch · T words · K tags. emissions: (B, T, K), how well each tag suits each word · mask: (B, T) bool, True
where there is a word; padding follows the words.
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
        """The score of one path per row. tags: (B, T), any value at padding → (B,)"""
        tags = tags.clamp(min=0)
        ends = mask.sum(1) - 1  # (B,), −1 for rows without words
        single = emissions.gather(2, tags.unsqueeze(2)).squeeze(2)  # (B, T)
        steps = self.steps[tags[:, :-1], tags[:, 1:]]  # (B, T − 1)
        at_end = tags.gather(1, ends.clamp(min=0).unsqueeze(1)).squeeze(1)  # (B,)
        inside = (single * mask).sum(1) + (steps * mask[:, 1:]).sum(1)
        return torch.where(ends >= 0, inside + self.first[tags[:, 0]] + self.last[at_end], 0.0)

    def log_partition(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """log Z, over all K^T paths, by the forward algorithm in T·K² sums → (B,)

        log Σ_i e^(α_i + steps_ij) is computed as a product with the matrix e^steps, after subtracting the largest α.
        """
        if not mask.any():
            return emissions.sum((1, 2))  # no words: zeros, with a gradient
        alpha = self.first + emissions[:, 0]  # (B, K): log-sum over all paths that end with each tag
        largest_step = self.steps.detach().max()
        steps = (self.steps - largest_step).exp()
        for t in range(1, emissions.size(1)):
            largest = alpha.detach().amax(1, keepdim=True)  # (B, 1)
            summed = ((alpha - largest).exp() @ steps).clamp(min=TINY).log() + largest + largest_step
            further = summed + emissions[:, t]  # (B, K)
            alpha = torch.where(mask[:, t].unsqueeze(1), further, alpha)
        return torch.where(mask.any(1), torch.logsumexp(alpha + self.last, dim=1), 0.0)

    def forward(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """−log p(tags) per word, over the batch."""
        losses = self.log_partition(emissions, mask) - self.score(emissions, tags, mask)  # (B,)
        return losses.sum() / mask.sum().clamp(min=1)

    @torch.no_grad()
    def best(self, emissions: Tensor, mask: Tensor) -> list[list[int]]:
        """The most probable path of each row (Viterbi 1967): the forward algorithm with maxima instead of sums, plus
        back pointers."""
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
        """(B, T, K): the probability of each tag at each word, over all paths. It is the gradient of log Z: autograd
        computes what the backward algorithm does."""
        with torch.enable_grad():
            x = emissions.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(self.log_partition(x, mask).sum(), x)
        return gradient
