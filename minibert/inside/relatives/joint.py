"""Several masked words, predicted together. BERT predicts each independently of the others; XLNet predicts one, then
the next given the first (Yang et al. 2019, §2.6: *New York is a city*)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.together import Together, combinations, together

STORIES, SEEN = 7_000_003, 9_000_011  # seeds: of the test stories, and of stories that show which words go together
METRICS = ("joint_at_once", "joint_in_order", "fits_at_once", "fits_in_order")


@torch.no_grad()
def expected(model: BertForPreTraining, ids: Sequence[int], place: int, hidden: Sequence[int], mask_id: int) -> Tensor:
    """Log-probabilities of every token at `place`, while all of `hidden`, which contains `place`, are unknown. → (V,)

    A masked language model reads [MASK] at all of them; to a permutation language model they come last in the order,
    `place` the first of them.
    """
    row = torch.tensor([list(ids)])
    labels, order = torch.full_like(row, IGNORE), torch.zeros_like(row)
    row[0, list(hidden)], order[0, list(hidden)] = mask_id, 2
    labels[0, place], order[0, place] = ids[place], 1
    return model(Batch(row, labels=labels, order=order)).mlm_logits[0].log_softmax(-1)


def at_once(model: BertForPreTraining, ids: Sequence[int], places: Sequence[int], mask_id: int) -> list[float]:
    """log p of each word with all of them masked: the sum is the joint log-probability if they were independent."""
    return [float(expected(model, ids, place, places, mask_id)[ids[place]]) for place in places]


def in_order(model: BertForPreTraining, ids: Sequence[int], places: Sequence[int], mask_id: int) -> list[float]:
    """log p of each word given those before it in `places`: the sum is the joint log-probability by the chain rule."""
    return [float(expected(model, ids, place, places[n:], mask_id)[ids[place]]) for n, place in enumerate(places)]


def drawn(
    model: BertForPreTraining,
    ids: Sequence[int],
    places: Sequence[int],
    mask_id: int,
    rng: torch.Generator,
    *,
    chained: bool,
) -> tuple[int, ...]:
    """Words sampled for the places: independently, or if `chained`, each given those already sampled."""
    row, words = list(ids), []
    for n, place in enumerate(places):
        hidden = places[n:] if chained else places
        log_probs = expected(model, row, place, hidden, mask_id)
        words.append(int(torch.multinomial(log_probs.exp(), 1, generator=rng)))
        if chained:
            row[place] = words[-1]
    return tuple(words)


def asked(tokenizer: Tokenizer, count: int) -> list[Together]:
    """`count` groups of words that go together, from stories that no model is trained on."""
    return together(world.stories(count, STORIES, "small"), tokenizer)[:count]


def going_together(model: BertForPreTraining, tokenizer: Tokenizer, groups: Sequence[Together]) -> dict[str, float]:
    """Means over the groups. `joint_at_once`, `joint_in_order`: joint log-probability of a group, in nats · `fits_…`:
    the share of draws whose words go together in the toy world."""
    known = combinations([*together(world.stories(2_000, SEEN, "small"), tokenizer), *groups])
    mask_id, rng = tokenizer.mask_id, torch.Generator().manual_seed(0)
    found: dict[str, list[float]] = {name: [] for name in METRICS}
    for group in groups:
        ids, places = group.ids, group.places
        found["joint_at_once"].append(sum(at_once(model, ids, places, mask_id)))
        found["joint_in_order"].append(sum(in_order(model, ids, places, mask_id)))
        for name, chained in (("fits_at_once", False), ("fits_in_order", True)):
            found[name].append(drawn(model, ids, places, mask_id, rng, chained=chained) in known)
    return {name: sum(values) / len(values) for name, values in found.items()}


def recorded(folder: Path, scale) -> dict[str, float]:
    """The metrics of the experiment, of the model in a folder."""
    from minibert import checkpoint

    tokenizer = checkpoint.load_tokenizer(folder)
    return going_together(checkpoint.load(folder), tokenizer, asked(tokenizer, scale.groups))
