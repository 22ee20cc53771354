"""UniLM made to write (Dong et al. 2019, §2.5): behind the source stands [MASK], a token is chosen for it, then comes
the next [MASK]. What a token sees never changes, so the keys and values of all before it are kept and not made again.

There is a [MASK] at every step because UniLM was asked for hidden tokens where they stand, as BERT was, and not, as GPT
is, for what follows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from minibert.model import Batch, BertForPreTraining
from minibert.relatives.unilm import SEGMENTS, by_segments

READS = "seq2seq"  # the mask under which a text is read and another written


@dataclass(frozen=True)
class Memory:
    """Of B rows: keys and values of all tokens so far by the name of their tap, (B, A, T, D) each, and their segments,
    (T,)."""

    kept: dict[str, Tensor]
    segments: Tensor

    def rows(self, chosen: Tensor) -> Memory:
        """Some of the rows, perhaps several times. chosen: (B',) → B' rows."""
        return replace(self, kept={name: x[chosen] for name, x in self.kept.items()})


@torch.no_grad()
def step(
    model: BertForPreTraining, ids: Tensor, segments: Sequence[int], memory: Memory | None, mask_id: int
) -> tuple[Tensor, Memory]:
    """Read some tokens more, and a [MASK] behind them → ln P of every token in its place, (B, V) float64, and the
    memory with the tokens read, in which there is no [MASK].

    ids: (B, t) new tokens · segments: t of them, and that of the [MASK].
    """
    before = torch.empty(0, dtype=torch.long) if memory is None else memory.segments
    whole = torch.cat([before, torch.tensor(segments)])  # (T + t + 1,)
    row = torch.cat([ids, torch.full((len(ids), 1), mask_id)], dim=1)  # (B, t + 1)
    looks = by_segments(Batch(whole[None], whole[None]))[:, :, len(before) :]  # (1, 1, t + 1, T + t + 1)
    kept: dict[str, Tensor] = {}

    def remember(name: str, x: Tensor) -> Tensor:
        if not name.endswith((".attn.key", ".attn.value")):
            return x
        joined = x if memory is None else torch.cat([memory.kept[name], x], dim=2)  # (B, A, T + t + 1, D)
        kept[name] = joined[:, :, :-1]
        return joined

    places = torch.arange(len(before), len(whole)).expand(len(ids), -1)
    batch = Batch(row, whole[len(before) :].expand(len(ids), -1), positions=places)
    hidden, _ = model.bert(batch, remember, looks)  # (B, t + 1, H)
    return model.mlm(hidden[:, -1]).double().log_softmax(-1), Memory(kept, whole[:-1])


@torch.no_grad()
def expected(
    model: BertForPreTraining, source: Sequence[int], written: Sequence[int], mask_id: int, mask: str = READS
) -> Tensor:
    """The same for one row, all computed anew: ln P of every token behind `source` and `written`. → (V,) float64"""
    first, second = SEGMENTS[mask]
    row = torch.tensor([[*source, *written, mask_id]])
    segments = torch.tensor([[first] * len(source) + [second] * (len(written) + 1)])
    hidden, _ = model.bert(Batch(row, segments))
    return model.mlm(hidden[0, -1]).double().log_softmax(-1)


@dataclass(frozen=True)
class Written:
    """ids: what was written · log_probs: ln P of each · guesses: at each step the likeliest (id, P), best first ·
    ended: whether with a token that ends it."""

    ids: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    guesses: list[list[tuple[int, float]]] = field(default_factory=list)
    ended: bool = False

    @property
    def score(self) -> float:
        """ln P of all of it: what a both-ways model has not."""
        return sum(self.log_probs)

    def and_then(self, token: int, log_probs: Tensor, ends: Collection[int], top: int = 5) -> Written:
        best = log_probs.topk(min(top, len(log_probs)))
        guesses = list(zip(best.indices.tolist(), best.values.exp().tolist(), strict=True))
        return Written(
            [*self.ids, token], [*self.log_probs, float(log_probs[token])], [*self.guesses, guesses], token in ends
        )


@dataclass(frozen=True)
class Rules:
    """ends: tokens with which a text is over · never: tokens that are not written · most: tokens, at most · mask: a
    key of SEGMENTS, under which is written."""

    mask_id: int
    ends: Collection[int]
    never: Collection[int] = ()
    most: int = 24
    mask: str = READS

    def first(self, model: BertForPreTraining, source: Sequence[int]) -> tuple[Tensor, Memory]:
        first, second = SEGMENTS[self.mask]
        read = torch.tensor([list(source)])
        return step(model, read, [first] * len(source) + [second], None, self.mask_id)

    def next(self, model: BertForPreTraining, tokens: Sequence[int], memory: Memory) -> tuple[Tensor, Memory]:
        second = SEGMENTS[self.mask][1]
        return step(model, torch.tensor(tokens)[:, None], [second, second], memory, self.mask_id)

    def room(self, model: BertForPreTraining, source: Sequence[int]) -> int:
        """How many tokens can be written behind the source."""
        return max(0, min(self.most, model.config.max_position_embeddings - len(source)))

    def allowed(self, log_probs: Tensor) -> Tensor:
        """Of the tokens that may be written, as it is; of the others −∞."""
        barred = [i for i in self.never if i not in self.ends]
        return log_probs.index_fill(-1, torch.tensor(barred, dtype=torch.long), float("-inf"))


def beam(model: BertForPreTraining, source: Sequence[int], rules: Rules, width: int = 4) -> list[Written]:
    """The `width` likeliest texts that a search finds which keeps so many beginnings at a time, best first. With a
    width of 1 it is greedy: the likeliest token, again and again."""
    alive, over = [Written()], []
    if not (room := rules.room(model, source)):
        return alive
    log_probs, memory = rules.first(model, source)
    for left in reversed(range(room)):
        scores = rules.allowed(log_probs) + torch.tensor([[one.score] for one in alive], dtype=torch.float64)
        best = scores.flatten().topk(min(width, scores.numel()))
        grown = [
            (place // scores.size(1), place % scores.size(1))
            for place, score in zip(best.indices.tolist(), best.values.tolist(), strict=True)
            if score > float("-inf")
        ]
        texts = [(row, alive[row].and_then(token, log_probs[row], rules.ends)) for row, token in grown]
        over += [text for _, text in texts if text.ended]
        going = [(row, text) for row, text in texts if not text.ended]
        alive = [text for _, text in going]
        finished = sorted((text.score for text in over), reverse=True)[:width]
        if not (alive and left) or (len(finished) == width and finished[-1] >= max(text.score for text in alive)):
            break  # no probability is above 1: what goes on can only fall
        rows = torch.tensor([row for row, _ in going])
        log_probs, memory = rules.next(model, [text.ids[-1] for text in alive], memory.rows(rows))
    return sorted([*over, *alive], key=lambda text: (-text.ended, -text.score))[:width]


def greedy(model: BertForPreTraining, source: Sequence[int], rules: Rules) -> Written:
    """The likeliest token, again and again."""
    return beam(model, source, rules, width=1)[0]


def greedy_anew(model: BertForPreTraining, source: Sequence[int], rules: Rules) -> Written:
    """The same, with nothing remembered: each row is read whole again. It is all that can be done where what is written
    changes how the source is read, as under BERT's mask."""
    text = Written()
    while len(text.ids) < rules.room(model, source) and not text.ended:
        log_probs = expected(model, source, text.ids, rules.mask_id, rules.mask)
        text = text.and_then(int(rules.allowed(log_probs).argmax()), log_probs, rules.ends)
    return text


def sample(
    model: BertForPreTraining, source: Sequence[int], rules: Rules, seed: int, temperature: float = 1.0, top: int = 0
) -> Written:
    """A token drawn by its probability, again and again. temperature: below 1 the likely ones are drawn more often ·
    top: only among so many of the likeliest; 0 among all."""
    rng = torch.Generator().manual_seed(seed)
    text = Written()
    if not (room := rules.room(model, source)):
        return text
    log_probs, memory = rules.first(model, source)
    for left in reversed(range(room)):
        weights = rules.allowed(log_probs)[0] / temperature
        if top:
            weights = weights.masked_fill(weights < weights.topk(min(top, len(weights))).values[-1], float("-inf"))
        token = int(torch.multinomial(weights.softmax(-1), 1, generator=rng))
        text = text.and_then(token, log_probs[0], rules.ends)
        if text.ended or not left:
            break
        log_probs, memory = rules.next(model, [token], memory)
    return text
