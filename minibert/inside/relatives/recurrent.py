"""What an LSTM does at each word, gate by gate, and how much of a word remains later.

The cell is that of Hochreiter & Schmidhuber 1997 with the forget gate of Gers et al. 2000, as torch.nn.LSTM has it.
Letters: T tokens · E input size · H state size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class LstmStep:
    """One step of an LSTM. Each (H,), or (T, H) for a text: the three gates, 0 … 1; `offered`, the new values, −1 … 1;
    and the cell and hidden state after it."""

    input: Tensor
    forget: Tensor
    offered: Tensor
    output: Tensor
    cell: Tensor
    hidden: Tensor


def step(x: Tensor, hidden: Tensor, cell: Tensor, weights: Sequence[Tensor]) -> LstmStep:
    """x (E,), the state before it (H,) each → the state after it, with the gates.

    weights: (4H, E), (4H, H), (4H,), (4H,) of torch.nn.LSTM, which stacks the four parts in this order.
    """
    w, u, b, d = weights
    i, f, g, o = (w @ x + b + u @ hidden + d).chunk(4)  # (4H,) → (H,) each
    i = torch.sigmoid(i)  # input gate: how much of what is offered is written
    f = torch.sigmoid(f)  # forget gate: how much of each old number is kept
    g = torch.tanh(g)  # the new values that are offered
    o = torch.sigmoid(o)  # output gate: how much of the cell is shown
    cell = f * cell + i * g
    hidden = o * torch.tanh(cell)
    return LstmStep(i, f, g, o, cell, hidden)


@torch.no_grad()
def read(lstm: nn.LSTM, x: Tensor) -> LstmStep:
    """A text x (T, E), word after word from an empty state, by an LSTM of one layer → all steps, (T, H) each."""
    weights = [lstm.get_parameter(f"{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    hidden = cell = torch.zeros(lstm.hidden_size)
    steps = []
    for word in x:
        steps.append(step(word, hidden, cell, weights))
        hidden, cell = steps[-1].hidden, steps[-1].cell
    return LstmStep(*(torch.stack([getattr(one, part.name) for one in steps]) for part in fields(LstmStep)))


def kept(forget: Tensor) -> Tensor:
    """forget (T, H) → (T,): the share of what the cell held after word t that no later forget gate has taken away by
    the end, the mean of its H numbers."""
    later = torch.cat([forget[1:], torch.ones_like(forget[:1])])  # after the last word nothing is forgotten
    return later.flip(0).cumprod(0).flip(0).mean(-1)


@torch.no_grad()
def moved(
    last: Callable[[Tensor], Tensor],
    ids: Tensor,
    places: Sequence[int],
    words: Sequence[int],
    draws: int,
    seed: int = 0,
) -> Tensor:
    """How far the final state moves when one word is replaced: (places,), the mean over `draws` random words; 1 is how
    far it moves when every word of the row is replaced except the first and last ([CLS], [SEP]).

    last: (B, T) → (B, N), the final state of each row · ids: (T,) · places: positions that are changed, one at a time ·
    words: the ids that take their place.
    """
    random = torch.Generator().manual_seed(seed)
    drawn = torch.tensor(list(words))[torch.randint(len(words), (draws, len(ids)), generator=random)]
    rows = ids.repeat(len(places) + 1, draws, 1)  # (places + 1, draws, T)
    for n, place in enumerate(places):
        rows[n, :, place] = drawn[:, place]
    rows[-1, :, 1:-1] = drawn[:, 1:-1]
    found = last(torch.cat([ids[None], rows.flatten(0, 1)]))  # (1 + (places + 1)·draws, N)
    far = (found[1:] - found[0]).norm(dim=-1).view(len(places) + 1, draws).mean(1)
    return far[:-1] / far[-1].clamp_min(1e-12)
