"""BERT-flow (Li et al. 2020, arXiv:2011.05864, §3): an invertible map from sentences' vectors to a Gaussian.

As Glow (Kingma and Dhariwal 2018), simplified as in the paper: additive couplings (Dinh et al. 2015) instead of affine
ones, and random permutations instead of learned 1 × 1 convolutions. Everywhere u: (B, H) of the encoder, z: (B, H) of
the Gaussian. Both have H dimensions, because an invertible map cannot drop any.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

LN_2_PI = math.log(2 * math.pi)


class ActNorm(nn.Module):
    """Shift and scale each dimension by two weights of its own; log-determinant: the sum of the log scales."""

    def __init__(self, width: int):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(width))
        self.log_scale = nn.Parameter(torch.zeros(width))

    @torch.no_grad()
    def start(self, u: Tensor) -> None:
        """Set the weights so that each dimension of these u, (N, H), gets mean 0 and variance 1."""
        self.shift.copy_(-u.mean(0))
        self.log_scale.copy_(-u.std(0).clamp(min=1e-6).log())

    def forward(self, u: Tensor) -> tuple[Tensor, Tensor]:
        return (u + self.shift) * self.log_scale.exp(), self.log_scale.sum()

    def inverse(self, z: Tensor) -> Tensor:
        return z * (-self.log_scale).exp() - self.shift


class Coupling(nn.Module):
    """Permute the dimensions; the first half stays and determines, by a network, what is added to the rest; the inverse
    subtracts it. Volume is preserved: log-determinant 0, whatever the network. At the start it adds nothing."""

    order: Tensor  # (width,)

    def __init__(self, width: int, hidden: int, generator: torch.Generator):
        super().__init__()
        self.sizes = [width // 2, width - width // 2]  # of the two halves
        self.register_buffer("order", torch.randperm(width, generator=generator))
        first, last = nn.Linear(self.sizes[0], hidden), nn.Linear(hidden, self.sizes[1])
        self.network = nn.Sequential(first, nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), last)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)

    def forward(self, u: Tensor) -> Tensor:
        a, b = u[:, self.order].split(self.sizes, dim=1)
        return torch.cat([a, b + self.network(a)], dim=1)

    def inverse(self, z: Tensor) -> Tensor:
        a, b = z.split(self.sizes, dim=1)
        return torch.cat([a, b - self.network(a)], dim=1)[:, self.order.argsort()]


class Flow(nn.Module):
    """`depth` times an ActNorm and a coupling. hidden: width of the couplings' networks."""

    def __init__(self, width: int, depth: int = 4, hidden: int = 256, seed: int = 0):
        super().__init__()
        if width < 2:
            raise ValueError(f"a coupling splits vectors in two: they need two numbers at least, not {width}")
        if depth < 1 or hidden < 1:
            raise ValueError(f"depth and hidden must be at least 1, not {depth} and {hidden}")
        self.width = width
        orders = torch.Generator().manual_seed(seed)
        self.norms = nn.ModuleList(ActNorm(width) for _ in range(depth))
        self.couplings = nn.ModuleList(Coupling(width, hidden, orders) for _ in range(depth))

    def steps(self) -> list[tuple[Any, Any]]:
        """Each ActNorm with its coupling."""
        return list(zip(self.norms, self.couplings, strict=True))

    @torch.no_grad()
    def start(self, u: Tensor) -> None:
        """Initialise the ActNorms from the training vectors."""
        if len(u) < 2:
            raise ValueError(f"a flow needs two vectors at least, not {len(u)}")
        for norm, coupling in self.steps():
            norm.start(u)
            u = coupling(norm(u)[0])

    def forward(self, u: Tensor) -> tuple[Tensor, Tensor]:
        """→ z (B, H), and ln |det ∂z/∂u|, a scalar: it is the same for every u."""
        volume = u.new_zeros(())
        for norm, coupling in self.steps():
            u, change = norm(u)
            u, volume = coupling(u), volume + change
        return u, volume

    def inverse(self, z: Tensor) -> Tensor:
        """The u that `forward` maps to z."""
        for norm, coupling in reversed(self.steps()):
            z = norm.inverse(coupling.inverse(z))
        return z

    def log_likelihood(self, u: Tensor) -> Tensor:
        """ln p(u) = ln N(z; 0, I) + ln |det ∂z/∂u|, (B,): exact; it is the training objective."""
        z, volume = self(u)
        return -0.5 * (z.pow(2).sum(-1) + self.width * LN_2_PI) + volume
