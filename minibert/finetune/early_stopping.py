"""Early stopping: the weights of the best epoch are kept, and training ends when epoch after epoch brings no gain."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class BestEpoch:
    """Judges epochs as transformers' `EarlyStoppingCallback` with `load_best_model_at_end`: an equal score is no gain.

    patience: epochs without gain, in a row, after which training is `over`.
    """

    def __init__(self, patience: int):
        self.patience = patience
        self.score, self.without_gain, self.step = -math.inf, 0, 0
        self._weights: dict[str, Tensor] = {}

    def saw(self, step: int, score: float, model: nn.Module) -> None:
        """An epoch has ended after `step` steps with this dev score."""
        if score > self.score:
            self.score, self.without_gain, self.step = score, 0, step
            self._weights = {name: weight.detach().clone() for name, weight in model.state_dict().items()}
        else:
            self.without_gain += 1

    @property
    def over(self) -> bool:
        return self.without_gain >= self.patience

    @torch.no_grad()
    def restore(self, model: nn.Module, step: int) -> int:
        """Give the model the weights of the best epoch → the step they are of. If none has ended, the model stays as it
        is after `step`."""
        if not self._weights:
            return step
        model.load_state_dict(self._weights)
        return self.step
