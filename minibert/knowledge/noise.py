"""Knowledge noise (Liu et al. 2020, §3.4): how facts unrelated to the question change the answers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from minibert.knowledge.sentence_tree import (
    Fact,
    KnowledgeBase,
    Mention,
    SentenceTree,
    cosine_change,
    read,
    sentence_tree,
)
from minibert.model import Batch, BertForPreTraining
from minibert.tokenizer import Tokenizer

# How the facts are read: name → (visible matrix, soft positions).
WAYS = {"both": (True, True), "matrix": (True, False), "positions": (False, True), "neither": (False, False)}


@dataclass(frozen=True)
class NoiseEffect:
    """Over all questions. right: accuracy · turned: mean of 1 − cosine between the vector at the [MASK] with facts and
    without."""

    right: float
    turned: float


@dataclass(frozen=True)
class BlankPrediction:
    """The prediction at a [MASK]. words, shares: the most probable words and their probabilities, best first · moved:
    its total variation from the prediction without facts, 0 to 1."""

    words: tuple[str, ...]
    shares: tuple[float, ...]
    moved: float


@torch.no_grad()
def blank_predictions(
    model: BertForPreTraining, tokenizer: Tokenizer, tree: SentenceTree, blank: int, most: int
) -> dict[str, BlankPrediction]:
    """The predictions for "none" and each of WAYS. blank: position of the [MASK], from 0 · most: words of each."""
    probs = {way: model.mlm(vectors[blank]).softmax(-1) for way, vectors in sentence_vectors(model, tree).items()}
    predictions = {}
    for way, shares in probs.items():
        best = shares.topk(most)
        words = tuple(tokenizer.vocab[i] for i in best.indices.tolist())
        predictions[way] = BlankPrediction(
            words, tuple(best.values.tolist()), float((shares - probs["none"]).abs().sum()) / 2
        )
    return predictions


@torch.no_grad()
def sentence_vectors(model: BertForPreTraining, tree: SentenceTree) -> dict[str, Tensor]:
    """The vectors of the sentence, (sentence, H) each: without facts for "none", and with them for each of WAYS, which
    are the rows of one batch."""
    ids = torch.tensor([tree.ids])  # (1, T)
    soft, counted = torch.tensor(tree.positions), torch.arange(len(tree.ids))
    visible, everything = tree.visible(), torch.ones(len(tree.ids), len(tree.ids), dtype=torch.bool)
    positions = torch.stack([soft if is_soft else counted for _, is_soft in WAYS.values()])
    mask = torch.stack([visible if matrix else everything for matrix, _ in WAYS.values()])[:, None]  # (4, 1, T, T)
    device = next(model.parameters()).device
    batch = Batch(ids.expand(len(WAYS), -1), positions=positions).to(device)
    hidden, _ = model.bert(batch, mask=mask.to(device))  # (4, T, H)
    return {"none": read(model.bert, tree.bare()), **dict(zip(WAYS, hidden[:, tree.sentence], strict=True))}


@torch.no_grad()
def noise(
    model: BertForPreTraining,
    tokenizer: Tokenizer,
    questions: Sequence[tuple[str, str]],
    base: KnowledgeBase,
    *,
    most: int = 2,
    seed: int = 0,
) -> dict[str, NoiseEffect]:
    """The noise for "none" and each of WAYS. questions: (sentence with a [MASK], its answer). In each sentence one
    word, drawn by `seed`, gets `most` facts that are drawn from the base regardless of the word."""
    rng = random.Random(seed)
    results: dict[str, list[tuple[bool, float]]] = {way: [] for way in ("none", *WAYS)}
    for text, answer in questions:
        encoding = tokenizer.encode(text)
        blank, target = encoding.ids.index(tokenizer.mask_id), tokenizer.ids.get(answer.lower())
        places = [at for at, special in enumerate(encoding.special) if not special]
        at = rng.choice(places)
        facts: tuple[Fact, ...] = tuple(rng.sample(base.facts, most))
        vectors = sentence_vectors(model, sentence_tree(tokenizer, encoding, [Mention(at, at, facts)]))
        for way, one in vectors.items():
            predicted = int(model.mlm(one[blank]).argmax())
            results[way].append(
                (predicted == target, max(0.0, float(cosine_change(vectors["none"][blank], one[blank]))))
            )
    return {
        way: NoiseEffect(sum(right for right, _ in each) / len(each), sum(turned for _, turned in each) / len(each))
        for way, each in results.items()
    }
