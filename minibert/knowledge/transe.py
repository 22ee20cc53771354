"""TransE (Bordes et al. 2013): a vector for each entity and each relation of a knowledge graph, so that
s + r ≈ o for a fact (s, r, o)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

Triple = tuple[str, str, str]  # subject, relation, object


@dataclass(frozen=True)
class Graph:
    """Facts; entities and relations are numbered in the order in which the facts name them."""

    triples: tuple[Triple, ...]

    @cached_property
    def entities(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for subject, _, object in self.triples for name in (subject, object)))

    @cached_property
    def relations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(relation for _, relation, _ in self.triples))

    @cached_property
    def numbers(self) -> Tensor:
        """(facts, 3) int64"""
        entity, relation = ({name: n for n, name in enumerate(names)} for names in (self.entities, self.relations))
        return torch.tensor([(entity[s], relation[r], entity[o]) for s, r, o in self.triples])


@dataclass(frozen=True)
class Translations:
    """entities: (N, E), of length 1 · relations: (R, E)"""

    entities: Tensor
    relations: Tensor

    def distance(self, triples: Tensor) -> Tensor:
        """‖s + r − o‖₂ of each; triples: (M, 3) → (M,)"""
        s, r, o = triples.unbind(-1)
        return (self.entities[s] + self.relations[r] - self.entities[o]).norm(dim=-1)

    def ranks(self, triples: Tensor) -> Tensor:
        """How many entities are nearer to s + r than o is, plus 1; (M,)"""
        s, r, o = triples.unbind(-1)
        away = torch.cdist(self.entities[s] + self.relations[r], self.entities)  # (M, N)
        return (away < away.gather(1, o[:, None])).sum(1) + 1


def margin_loss(true: Tensor, false: Tensor, margin: float = 1.0) -> Tensor:
    """Mean of max(0, γ + d(s + r, o) − d(s′ + r, o′)): a fact's distance should be smaller by γ than that of
    its corrupted copy (equation 1). true, false: (M,) distances"""
    return (margin + true - false).clamp(min=0).mean()


def corrupted(triples: Tensor, entities: int, rng: torch.Generator) -> Tensor:
    """Replace the subject or the object of each fact, never both, by another entity (equation 2)."""
    false = triples.clone()
    side = torch.randint(2, (len(triples),), generator=rng) * 2  # column 0 or 2
    row = torch.arange(len(triples))
    other = torch.randint(entities - 1, (len(triples),), generator=rng)
    false[row, side] = other + (other >= triples[row, side]).long()  # any but its own
    return false


def learn(
    graph: Graph, size: int = 32, *, margin: float = 1.0, epochs: int = 300, rate: float = 0.02, seed: int = 0
) -> Translations:
    """Train on all facts as one batch, `epochs` times; entities are normalised to length 1 before each step."""
    rng, triples = torch.Generator().manual_seed(seed), graph.numbers
    bound = 6 / size**0.5
    e, r = (
        (2 * torch.rand(len(names), size, generator=rng) - 1) * bound for names in (graph.entities, graph.relations)
    )
    e, r = e.requires_grad_(), torch.nn.functional.normalize(r, dim=-1).requires_grad_()
    optimizer = torch.optim.Adam([e, r], lr=rate)
    for _ in range(epochs):
        with torch.no_grad():
            e.copy_(torch.nn.functional.normalize(e, dim=-1))
        now = Translations(e, r)
        loss = margin_loss(now.distance(triples), now.distance(corrupted(triples, len(e), rng)), margin)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return Translations(torch.nn.functional.normalize(e.detach(), dim=-1), r.detach())
