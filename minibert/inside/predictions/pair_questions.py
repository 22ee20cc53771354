"""How a model pre-trained on one task about pairs of segments does on another: next-sentence and sentence-order
prediction, evaluated crosswise (Lan et al. 2020, arXiv:1909.11942, §4.6 and table 5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch

from minibert.model import BertForPreTraining
from minibert.objectives import MaskedLanguageModel
from minibert.text.batches import assemble
from minibert.text.segment_pairs import SegmentPair
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer

SECONDS = ("nsp", "sop")
SHORT = 0.1  # of the documents aim for shorter pairs, as in BERT’s paper
ROWS = 32  # pairs per batch


def pairs_to_judge(
    documents: Sequence[list[str]], tokenizer: Tokenizer, second: str, max_length: int = 128, seed: int = 0
) -> list[SegmentPair]:
    """The pairs of all documents as pre-training on `second` makes them: label 1 where b does not follow a."""
    store, rng = TokenStore.build(documents, tokenizer), np.random.default_rng(seed)
    made_by = MaskedLanguageModel(second=second).pairs["segment_pair"]
    return [
        pair
        for index in range(len(store))
        for pair in made_by(list(store.document(index)), partial(store.elsewhere, index, rng), max_length, rng, SHORT)
    ]


@torch.no_grad()
def follows(model: BertForPreTraining, tokenizer: Tokenizer, pairs: Sequence[SegmentPair]) -> np.ndarray:
    """P(label 0) of each pair, by the head for pairs, whichever task it was pre-trained on. (N,)"""
    training = model.training
    model.eval()
    found = []
    for start in range(0, len(pairs), ROWS):
        batch, _, _ = assemble(pairs[start : start + ROWS], tokenizer)
        _, pooled = model.bert(batch.to(next(model.parameters()).device))
        found.append(model.nsp(pooled).float().softmax(-1)[:, 0].cpu())
    model.train(training)
    return torch.cat(found).numpy()


def balanced_accuracy(probs: np.ndarray, pairs: Sequence[SegmentPair]) -> float:
    """The mean of the accuracies on true pairs and on the others: ½ for guessing, however many there are of each.
    probs: of label 0."""
    labels = np.array([pair.next_label for pair in pairs])
    right = (probs > 0.5) == (labels == 0)
    return float(np.mean([right[labels == label].mean() for label in (0, 1)]))


def judged(
    model: BertForPreTraining, tokenizer: Tokenizer, documents: Sequence[list[str]], seed: int = 0
) -> dict[str, float]:
    """Each of SECONDS → balanced accuracy on the same documents."""
    asked = {second: pairs_to_judge(documents, tokenizer, second, seed=seed) for second in SECONDS}
    return {second: balanced_accuracy(follows(model, tokenizer, pairs), pairs) for second, pairs in asked.items()}
