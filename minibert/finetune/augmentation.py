"""Data augmentation, offline: more training texts from the same examples, by pure functions and a seeded generator.

Easy data augmentation (Wei and Zou 2019) without its thesaurus, i.e. words swapped or dropped; words replaced by
[MASK]; and words replaced by predictions of the model itself (as in Wu et al. 2019). Each copy keeps its example's
label, which may become wrong: the dropped word may be "not".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minibert.tasks.base import Task
from minibert.text.characters import is_cjk
from minibert.tokenizer import MASK, Tokenizer

METHODS = ("mask", "replace", "drop", "swap")
BATCH_SIZE = 64  # sentences in a batch


@dataclass(frozen=True)
class Augmentation:
    """method: "mask" (words become [MASK]), "replace" (by the model's predictions), "drop", "swap" · rate: share of the
    words, at least one word · copies: per example, in addition to it."""

    method: str = "replace"
    rate: float = 0.1
    copies: int = 1

    def __post_init__(self):
        if self.method not in METHODS:
            raise ValueError(f"the augmentation must be one of {', '.join(METHODS)}, not {self.method!r}")
        if not 0 < self.rate <= 1:
            raise ValueError(f"the rate of an augmentation is a share above 0 and at most 1, not {self.rate}")
        if self.copies < 1:
            raise ValueError(f"an augmentation makes at least 1 copy, not {self.copies}")


Fill = Callable[[list[list[str]], list[list[int]], np.random.Generator], list[list[str]]]


def augmented(
    task: Task, examples: Sequence, augmentation: Augmentation, seed: int, fill: Fill | None = None
) -> list[Any]:
    """New examples, `copies` of each, in order. The same seed gives the same ones.

    fill(sentences, places, rng): the sentences with the words at the places replaced; needed for "replace" only.
    Raises ValueError for tasks whose answers are positions in the text.
    """
    if augmentation.method == "replace" and fill is None:
        raise ValueError("the augmentation replace needs a model that fills in words")
    rng = np.random.default_rng(seed)
    sources = [example for example in examples for _ in range(augmentation.copies)]
    texts = [task.texts(example) for example in sources]
    words = [list(text) if isinstance(text, tuple) else split_words(text) for row in texts for text in row]
    changed, origins = changed_words(words, augmentation, rng, fill)
    made = iter(zip(changed, origins, strict=True))
    result = []
    for example, row in zip(sources, texts, strict=True):
        parts = [next(made) for _ in row]
        new = [tuple(w) if isinstance(old, tuple) else join_words(w) for old, (w, _) in zip(row, parts, strict=True)]
        result.append(task.with_texts(example, new, [origin for _, origin in parts]))
    return result


def changed_words(
    sentences: Sequence[Sequence[str]], augmentation: Augmentation, rng: np.random.Generator, fill: Fill | None = None
) -> tuple[list[list[str]], list[list[int]]]:
    """(new sentences, origins): for each new word, the index of the old word that it comes from."""
    method, rate = augmentation.method, augmentation.rate
    if method in ("swap", "drop"):
        order = swapped if method == "swap" else kept
        origins = [order(len(words), rate, rng) for words in sentences]
        return [[words[i] for i in origin] for words, origin in zip(sentences, origins, strict=True)], origins
    places = [draw_positions(len(words), rate, rng) for words in sentences]
    origins = [list(range(len(words))) for words in sentences]
    if method == "replace":
        return fill([list(words) for words in sentences], places, rng), origins
    hidden = [
        [MASK if i in set(at) else word for i, word in enumerate(words)]
        for words, at in zip(sentences, places, strict=True)
    ]
    return hidden, origins


def num_changed(words: int, rate: float) -> int:
    return min(words, max(1, round(rate * words))) if words else 0


def draw_positions(words: int, rate: float, rng: np.random.Generator) -> list[int]:
    """Positions of the words to change, in order."""
    return sorted(rng.permutation(words)[: num_changed(words, rate)].tolist())


def kept(words: int, rate: float, rng: np.random.Generator) -> list[int]:
    """The positions left after dropping `rate` of the words; one word always stays."""
    gone = set(rng.permutation(words)[: min(num_changed(words, rate), words - 1)].tolist()) if words else set()
    return [i for i in range(words) if i not in gone]


def swapped(words: int, rate: float, rng: np.random.Generator) -> list[int]:
    """The positions after as many random swaps of two words as there are words to change."""
    order = list(range(words))
    for _ in range(num_changed(words, rate) if words > 1 else 0):
        a, b = rng.choice(words, 2, replace=False)
        order[a], order[b] = order[b], order[a]
    return order


def split_words(text: str) -> list[str]:
    """Split at white space; Chinese characters one by one."""
    spaced = "".join(f" {c} " if is_cjk(c) else c for c in text)
    return spaced.split()


def join_words(words: Sequence[str]) -> str:
    """Words with spaces between them, but none between Chinese characters."""
    return re.sub(r"(?<=(.)) (?=(.))", lambda m: "" if is_cjk(m[1]) and is_cjk(m[2]) else " ", " ".join(words))


def model_fill(model, tokenizer: Tokenizer, top: int = 10) -> Fill:
    """Replaces words by predictions of a BertForPreTraining: one of its `top` likeliest whole words other than the old
    one, drawn by their probabilities. Words of several pieces stay."""
    import torch

    from minibert.model import IGNORE, Batch

    device = next(model.parameters()).device
    fit = {i for piece, i in tokenizer.ids.items() if not piece.startswith("##")} - tokenizer.special_ids
    unfit = [i for i in range(tokenizer.vocab_size) if i not in fit]

    @torch.no_grad()
    def fill(sentences: list[list[str]], places: list[list[int]], rng: np.random.Generator) -> list[list[str]]:
        model.eval()
        result = [list(words) for words in sentences]
        pieces = iter(tokenizer.encode_bulk([word for words in sentences for word in words]))
        rows = []  # (sentence, ids, [(word, position, old id)])
        for number, (words, at) in enumerate(zip(sentences, places, strict=True)):
            ids, blanks, chosen = [tokenizer.cls_id], [], set(at)
            for word in range(len(words)):
                cut = next(pieces)
                if word in chosen and len(cut) == 1 and len(ids) < model.config.longest - 1:
                    blanks.append((word, len(ids), cut[0]))
                    cut = [tokenizer.mask_id]
                ids += cut
            ids = [*ids[: model.config.longest - 1], tokenizer.sep_id]
            if blanks:
                rows.append((number, ids, blanks))
        for start in range(0, len(rows), BATCH_SIZE):
            some = rows[start : start + BATCH_SIZE]
            longest = max(len(ids) for _, ids, _ in some)
            table = torch.tensor([ids + [tokenizer.pad_id] * (longest - len(ids)) for _, ids, _ in some])
            padding = torch.arange(longest) < torch.tensor([[len(ids)] for _, ids, _ in some])
            labels = torch.where(table == tokenizer.mask_id, table, IGNORE)
            target_mask = labels != IGNORE  # includes any [MASK] of the text itself; it is not replaced
            logits = model(Batch(table, padding=padding, labels=labels).to(device)).mlm_logits.float().cpu()
            at_place = {place: i for i, place in enumerate(map(tuple, target_mask.nonzero().tolist()))}
            logits[:, unfit] = float("-inf")
            for row, (number, _, blanks) in enumerate(some):
                for word, position, old in blanks:
                    scores = logits[at_place[row, position]].clone()
                    scores[old] = float("-inf")
                    best = scores.topk(min(top, len(scores) - len(unfit) - 1))
                    chances = best.values.double().softmax(0).numpy()
                    chosen = int(rng.choice(len(chances), p=chances / chances.sum()))
                    result[number][word] = tokenizer.vocab[int(best.indices[chosen])]
        return result

    return fill
