"""BERT as a generator: a Markov random field from which sentences are drawn (Wang and Cho 2019, arXiv:1902.04094).

Each conditional P(token | all others) is what the masked language model was trained for. Begin with [MASK] everywhere,
draw a token for one place after another, and again: a Gibbs sampler. The conditionals need not belong to one joint
distribution, so the order in which the places are visited matters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from minibert.inside.predictions.cloze import expectations
from minibert.model import BertForPreTraining

Order = Literal["left_to_right", "random", "surest"]
ORDERS: tuple[Order, ...] = ("left_to_right", "random", "surest")


def conditional(
    model: BertForPreTraining, ids: Sequence[int], place: int, mask_id: int, never: Collection[int] = ()
) -> Tensor:
    """ln P(token at `place` | all others), computed with [MASK] there. → (V,) float64, −∞ for `never`"""
    hidden = [*ids[:place], mask_id, *ids[place + 1 :]]
    log_probs = expectations(model, hidden, [place])[0]
    if not never:
        return log_probs
    return log_probs.index_fill(0, torch.tensor(sorted(never)), float("-inf")).log_softmax(0)


@dataclass(frozen=True)
class GibbsDraw:
    """One draw. ids: the row after it · place: the one drawn, None for the initial row · guesses: the most probable
    (id, P) there, best first."""

    ids: list[int]
    place: int | None = None
    guesses: Sequence[tuple[int, float]] = ()


def gibbs(
    model: BertForPreTraining,
    ids: Sequence[int],
    places: Sequence[int],
    mask_id: int,
    *,
    sweeps: int,
    seed: int,
    order: Order = "random",
    temperature: float = 1.0,
    never: Collection[int] = (),
    top: int = 5,
) -> Iterator[GibbsDraw]:
    """The row with [MASK] at all `places`, then after each draw; every sweep visits each place once.

    order: "left_to_right", "random", or "surest": of the places not yet visited in the sweep, the one whose best token
    is most probable · temperature: below 1 likely tokens are drawn more often, 0: always the likeliest.
    """
    rng = torch.Generator().manual_seed(seed)
    row = [mask_id if place in set(places) else i for place, i in enumerate(ids)]
    yield GibbsDraw(list(row))
    for _ in range(sweeps):
        left = list(places)
        if order == "random":
            left = [places[i] for i in torch.randperm(len(places), generator=rng).tolist()]
        while left:
            if order == "surest":
                left.sort(key=lambda place: -float(conditional(model, row, place, mask_id, never).max()))
            place = left.pop(0)
            log_probs = conditional(model, row, place, mask_id, never)
            best = log_probs.topk(min(top, len(log_probs)))
            if temperature:
                row[place] = int(torch.multinomial((log_probs / temperature).softmax(0), 1, generator=rng))
            else:
                row[place] = int(best.indices[0])
            yield GibbsDraw(list(row), place, list(zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)))
