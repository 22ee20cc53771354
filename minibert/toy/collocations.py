"""Words of the toy world that go together, like *New* and *York*: a free word, and the words that it alone determines.
With all of them masked, each could be many words, but not in every combination. BERT predicts each independently of the
others; XLNet predicts one, then the next given the first (Yang et al. 2019, §2.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from minibert import checkpoint
from minibert.model import IGNORE, Batch, BertForPreTraining
from minibert.tokenizer import Tokenizer
from minibert.toy import world
from minibert.toy.files import load_masked_lm
from minibert.toy.world import Story

TEST_SEED, REFERENCE_SEED = 7_000_003, 9_000_011  # of the test stories; of those that show which words go together
METRICS = ("joint_at_once", "joint_in_order", "fits_at_once", "fits_in_order")
KINDS = ("effect", "article")  # what follows from a cause, and the article of a word


@dataclass(frozen=True)
class Collocation:
    """ids: [CLS], a sentence, [SEP] · places: of its words that go together, in reading order · kind: of the words that
    are determined."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    kind: str

    @property
    def words(self) -> tuple[int, ...]:
        return tuple(self.ids[place] for place in self.places)


def collocations_of(stories: Sequence[Story], tokenizer: Tokenizer) -> list[Collocation]:
    """For every free word of every sentence: itself and all that it determines there, directly or through another."""
    groups = []
    for story in stories:
        start = 0  # of the sentence in the story
        for sentence in story.sentences:
            words = sentence.words
            ids = (tokenizer.cls_id, *(tokenizer.ids[word.text] for word in words), tokenizer.sep_id)
            for place, word in enumerate(words):
                group, kinds = {place}, set()
                for _ in range(2 * word.free):  # a state follows from an event, and an act from the state
                    for other, decided in enumerate(words):
                        causes = [cause - start for cause in decided.determined_by]
                        if decided.kind in KINDS and len(causes) == 1 and causes[0] in group:
                            group.add(other)
                            kinds.add(decided.kind)
                if len(kinds) == 1:
                    groups.append(Collocation(ids, tuple(i + 1 for i in sorted(group)), min(kinds)))
            start += len(words)
    return groups


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


def sample_words(
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


def held_out_collocations(tokenizer: Tokenizer, count: int) -> list[Collocation]:
    """`count` collocations from stories that no model is trained on."""
    return collocations_of(world.stories(count, TEST_SEED, "small"), tokenizer)[:count]


def collocation_metrics(
    model: BertForPreTraining, tokenizer: Tokenizer, groups: Sequence[Collocation]
) -> dict[str, float]:
    """Means over the groups. `joint_at_once`, `joint_in_order`: joint log-probability of a group, in nats · `fits_…`:
    the share of samples whose words go together in the toy world."""
    known = {
        group.words for group in [*collocations_of(world.stories(2_000, REFERENCE_SEED, "small"), tokenizer), *groups]
    }
    mask_id, rng = tokenizer.mask_id, torch.Generator().manual_seed(0)
    values: dict[str, list[float]] = {name: [] for name in METRICS}
    for group in groups:
        ids, places = group.ids, group.places
        values["joint_at_once"].append(sum(at_once(model, ids, places, mask_id)))
        values["joint_in_order"].append(sum(in_order(model, ids, places, mask_id)))
        for name, chained in (("fits_at_once", False), ("fits_in_order", True)):
            values[name].append(sample_words(model, ids, places, mask_id, rng, chained=chained) in known)
    return {name: sum(row) / len(row) for name, row in values.items()}


def checkpoint_metrics(folder: Path, scale: Any) -> dict[str, float]:
    """`collocation_metrics` of the model saved in a folder, on `scale.groups` collocations."""
    tokenizer = checkpoint.load_tokenizer(folder)
    return collocation_metrics(load_masked_lm(folder), tokenizer, held_out_collocations(tokenizer, scale.groups))
