"""Knowledge noise (Liu et al. 2020, §3.4): what facts that have nothing to do with the question do to the answers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from minibert.knowledge import Fact, KnowledgeBase, Mention, moved, read, sentence_tree
from minibert.model import BertForPreTraining
from minibert.tokenizer import Tokenizer

# How the facts are read: name → (visible matrix, soft positions).
WAYS = {"both": (True, True), "matrix": (True, False), "positions": (False, True), "neither": (False, False)}


@dataclass(frozen=True)
class Noise:
    """Of all questions: right, the share that is answered rightly · turned: 1 − cosine of the blank's vector and what
    it is without facts, their mean."""

    right: float
    turned: float


@torch.no_grad()
def noise(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    questions: Sequence[tuple[str, str]],
    base: KnowledgeBase,
    *,
    most: int = 2,
    seed: int = 0,
) -> dict[str, Noise]:
    """ "none" and each of WAYS, on (sentence with a [MASK], the word behind it). On one word of each sentence, drawn by
    seed, `most` facts are hung, drawn from the base and about something else."""
    rng, found = random.Random(seed), {way: [] for way in ("none", *WAYS)}
    for text, answer in questions:
        encoding = tokenizer.encode(text)
        blank, wanted = encoding.ids.index(tokenizer.mask_id), tokenizer.ids.get(answer.lower())
        places = [at for at, special in enumerate(encoding.special) if not special]
        at = rng.choice(places)
        facts: tuple[Fact, ...] = tuple(rng.sample(base.facts, most))
        alone = read(model.bert, sentence_tree(tokenizer, encoding, []))[blank]
        tree = sentence_tree(tokenizer, encoding, [Mention(at, at, facts)])
        vectors = {"none": alone}
        for way, (matrix, soft) in WAYS.items():
            vectors[way] = read(model.bert, tree, matrix=matrix, soft=soft)[blank]
        for way, vector in vectors.items():
            said = int(model.mlm(vector).argmax())
            found[way].append((said == wanted, max(0.0, float(moved(alone[None], vector[None])))))
    return {
        way: Noise(sum(right for right, _ in each) / len(each), sum(turned for _, turned in each) / len(each))
        for way, each in found.items()
    }
