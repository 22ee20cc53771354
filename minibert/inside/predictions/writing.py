"""Text generation with UniLM (Dong et al. 2019, §2.5): append [MASK] to the source, choose a token for it, append the
next [MASK]. What a token attends to never changes, so the keys and values of all tokens before it are cached.

Every step needs a [MASK] because UniLM, like BERT, is trained to predict masked tokens in their place, not the next
token as GPT is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from minibert.model import Batch, BertForPreTraining
from minibert.relatives.unilm import SEGMENTS, by_segments

READS = "seq2seq"  # the attention mask for reading one text and writing another


@dataclass(frozen=True)
class Memory:
    """The cache of B rows: keys and values of all tokens so far by the name of their tap, (B, A, T, D) each, and the
    tokens' segments, (T,)."""

    kept: dict[str, Tensor]
    segments: Tensor

    def rows(self, chosen: Tensor) -> Memory:
        """The chosen rows, possibly repeated. chosen: (B',) → B' rows."""
        return replace(self, kept={name: x[chosen] for name, x in self.kept.items()})


@torch.no_grad()
def step(
    model: BertForPreTraining, ids: Tensor, segments: Sequence[int], memory: Memory | None, mask_id: int
) -> tuple[Tensor, Memory]:
    """Read new tokens and a [MASK] behind them → ln P of every token at the [MASK], (B, V) float64, and the memory with
    the new tokens but not the [MASK].

    ids: (B, t) new tokens · segments: theirs and that of the [MASK], t + 1.
    """
    before = torch.empty(0, dtype=torch.long) if memory is None else memory.segments
    whole = torch.cat([before, torch.tensor(segments)])  # (T + t + 1,)
    row = torch.cat([ids, torch.full((len(ids), 1), mask_id)], dim=1)  # (B, t + 1)
    mask: Any = by_segments(Batch(whole[None], whole[None]))
    looks = mask[:, :, len(before) :]  # (1, 1, t + 1, T + t + 1)
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
    """As `step` for one row, without a cache: ln P of every token behind `source` and `written`. → (V,) float64"""
    first, second = SEGMENTS[mask]
    row = torch.tensor([[*source, *written, mask_id]])
    segments = torch.tensor([[first] * len(source) + [second] * (len(written) + 1)])
    hidden, _ = model.bert(Batch(row, segments))
    return model.mlm(hidden[0, -1]).double().log_softmax(-1)


@dataclass(frozen=True)
class Written:
    """ids: what was written · log_probs: ln P of each · guesses: at each step the most probable (id, P), best first ·
    ended: whether the last token ends the text."""

    ids: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    guesses: list[list[tuple[int, float]]] = field(default_factory=list)
    ended: bool = False

    @property
    def score(self) -> float:
        """ln P of the whole text, which a bidirectional model does not define."""
        return sum(self.log_probs)

    def and_then(self, token: int, log_probs: Tensor, ends: Collection[int], top: int = 5) -> Written:
        best = log_probs.topk(min(top, len(log_probs)))
        guesses = list(zip(best.indices.tolist(), best.values.exp().tolist(), strict=True))
        return Written(
            [*self.ids, token], [*self.log_probs, float(log_probs[token])], [*self.guesses, guesses], token in ends
        )


@dataclass(frozen=True)
class Rules:
    """ends: tokens that end a text · never: tokens that are not written · most: tokens, at most · mask: the attention
    mask for writing, a key of SEGMENTS."""

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
        """`log_probs` with −∞ for tokens that may not be written."""
        barred = [i for i in self.never if i not in self.ends]
        return log_probs.index_fill(-1, torch.tensor(barred, dtype=torch.long), float("-inf"))


def beam(model: nn.Module, source: Sequence[int], rules: Any, width: int = 4) -> list[Written]:
    """Beam search: the `width` most probable texts found when keeping so many beginnings at a time, best first. Width 1
    is greedy search. rules: `Rules`, or for another kind of model a class with its methods."""
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
            break  # a longer text is never more probable
        rows = torch.tensor([row for row, _ in going])
        log_probs, memory = rules.next(model, [text.ids[-1] for text in alive], memory.rows(rows))
    return sorted([*over, *alive], key=lambda text: (-text.ended, -text.score))[:width]


def greedy(model: BertForPreTraining, source: Sequence[int], rules: Rules) -> Written:
    """Greedy search: the most probable token at every step."""
    return beam(model, source, rules, width=1)[0]


def greedy_anew(model: BertForPreTraining, source: Sequence[int], rules: Rules) -> Written:
    """Greedy search without a cache: each step reads the whole row again. Needed where written tokens change the
    vectors of the source, as under BERT's mask."""
    text = Written()
    while len(text.ids) < rules.room(model, source) and not text.ended:
        log_probs = expected(model, source, text.ids, rules.mask_id, rules.mask)
        text = text.and_then(int(rules.allowed(log_probs).argmax()), log_probs, rules.ends)
    return text


def samples(
    model: BertForPreTraining,
    source: Sequence[int],
    rules: Rules,
    seeds: Sequence[int],
    temperature: float = 1.0,
    top: int = 0,
) -> list[Written]:
    """Sample a text for each seed, token by token, all in one batch. temperature: below 1 likely tokens are drawn more
    often · top: draw only among so many of the most probable; 0 among all."""
    texts, rngs = [Written() for _ in seeds], [torch.Generator().manual_seed(seed) for seed in seeds]
    if not (room := rules.room(model, source)):
        return texts
    going = list(range(len(seeds)))  # the numbers of the texts that have not ended
    log_probs, memory = rules.first(model, source)
    log_probs, memory = log_probs.expand(len(going), -1), memory.rows(torch.zeros(len(going), dtype=torch.long))
    for left in reversed(range(room)):
        weights = rules.allowed(log_probs) / temperature  # (B, V)
        if top:
            least = weights.topk(min(top, weights.size(1))).values[:, -1:]
            weights = weights.masked_fill(weights < least, float("-inf"))
        for row, number in enumerate(going):
            token = int(torch.multinomial(weights[row].softmax(-1), 1, generator=rngs[number]))
            texts[number] = texts[number].and_then(token, log_probs[row], rules.ends)
        rows = [row for row, number in enumerate(going) if not texts[number].ended]
        going = [going[row] for row in rows]
        if not going or not left:
            break
        log_probs, memory = rules.next(model, [texts[one].ids[-1] for one in going], memory.rows(torch.tensor(rows)))
    return texts
