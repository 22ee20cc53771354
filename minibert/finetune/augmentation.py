"""Data augmentation, offline: more training texts from the same examples, by pure functions and a seeded generator.

Easy data augmentation (Wei and Zou 2019) without its thesaurus, i.e. words swapped or dropped; words replaced by
[MASK]; and words replaced by predictions of the model itself (as in Wu et al. 2019). Each copy keeps its example's
label, which may become wrong: the dropped word may be "not".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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

    def __post_init__(self) -> None:
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

    fill(sentences, positions, rng): the sentences with the words at the positions replaced; for "replace" only.
    Raises ValueError for tasks whose answers are positions in the text.
    """
    if augmentation.method == "replace" and fill is None:
        raise ValueError("the augmentation replace needs a model that fills in words")
    rng = np.random.default_rng(seed)
    sources = [example for example in examples for _ in range(augmentation.copies)]
    texts = [task.texts(example) for example in sources]
    sentences = [list(text) if isinstance(text, tuple) else split_words(text) for row in texts for text in row]
    changed, origins = changed_words(sentences, augmentation, rng, fill)
    pairs = iter(zip(changed, origins, strict=True))
    result = []
    for example, row in zip(sources, texts, strict=True):
        new = [next(pairs) for _ in row]
        new_texts = [
            tuple(words) if isinstance(old, tuple) else join_words(words)
            for old, (words, _) in zip(row, new, strict=True)
        ]
        result.append(task.with_texts(example, new_texts, [origin for _, origin in new]))
    return result


def changed_words(
    sentences: Sequence[Sequence[str]], augmentation: Augmentation, rng: np.random.Generator, fill: Fill | None = None
) -> tuple[list[list[str]], list[list[int]]]:
    """(new sentences, origins): for each new word, the index of the old word that it comes from."""
    method, rate = augmentation.method, augmentation.rate
    if method in ("swap", "drop"):
        order = swap_words if method == "swap" else drop_words
        origins = [order(len(words), rate, rng) for words in sentences]
        return [[words[i] for i in origin] for words, origin in zip(sentences, origins, strict=True)], origins
    positions = [draw_positions(len(words), rate, rng) for words in sentences]
    origins = [list(range(len(words))) for words in sentences]
    if fill is not None and method == "replace":
        return fill([list(words) for words in sentences], positions, rng), origins
    masked = [
        [MASK if i in chosen else word for i, word in enumerate(words)]
        for words, chosen in zip(sentences, positions, strict=True)
    ]
    return masked, origins


def num_changed(words: int, rate: float) -> int:
    return min(words, max(1, round(rate * words))) if words else 0


def draw_positions(words: int, rate: float, rng: np.random.Generator) -> list[int]:
    """Positions of the words to change, in order."""
    return sorted(rng.permutation(words)[: num_changed(words, rate)].tolist())


def drop_words(words: int, rate: float, rng: np.random.Generator) -> list[int]:
    """The positions left after dropping `rate` of the words; one word always stays."""
    dropped = set(rng.permutation(words)[: min(num_changed(words, rate), words - 1)].tolist()) if words else set()
    return [i for i in range(words) if i not in dropped]


def swap_words(words: int, rate: float, rng: np.random.Generator) -> list[int]:
    """The positions after as many random swaps of two words as there are words to change."""
    order = list(range(words))
    for _ in range(num_changed(words, rate) if words > 1 else 0):
        a, b = rng.choice(words, 2, replace=False)
        order[a], order[b] = order[b], order[a]
    return order


def split_words(text: str) -> list[str]:
    """Split at white space; Chinese characters one by one."""
    return "".join(f" {c} " if is_cjk(c) else c for c in text).split()


def join_words(words: Sequence[str]) -> str:
    """Words with spaces between them, but none between Chinese characters."""
    return re.sub(r"(?<=(.)) (?=(.))", lambda m: "" if is_cjk(m[1]) and is_cjk(m[2]) else " ", " ".join(words))


def model_fill(model: Any, tokenizer: Tokenizer, top: int = 10) -> Fill:
    """Replaces words by predictions of a BertForPreTraining: one of its `top` likeliest whole words other than the old
    one, drawn by their probabilities. Words of several pieces stay."""
    import torch

    from minibert.model import IGNORE
    from minibert.text.batches import padded_batch

    device = next(model.parameters()).device
    words_only = {i for piece, i in tokenizer.ids.items() if not piece.startswith("##")} - tokenizer.special_ids
    others = [i for i in range(tokenizer.vocab_size) if i not in words_only]

    @torch.no_grad()
    def fill(sentences: list[list[str]], positions: list[list[int]], rng: np.random.Generator) -> list[list[str]]:
        model.eval()
        result = [list(words) for words in sentences]
        pieces = iter(tokenizer.encode_bulk([word for words in sentences for word in words]))
        rows = []  # (sentence, ids, [(word, position, old id)])
        for number, (words, chosen) in enumerate(zip(sentences, positions, strict=True)):
            ids, blanks = [tokenizer.cls_id], []
            for word in range(len(words)):
                word_ids = next(pieces)
                if word in chosen and len(word_ids) == 1 and len(ids) < model.config.longest - 1:
                    blanks.append((word, len(ids), word_ids[0]))
                    word_ids = [tokenizer.mask_id]
                ids += word_ids
            ids = [*ids[: model.config.longest - 1], tokenizer.sep_id]
            if blanks:
                rows.append((number, ids, blanks))
        for start in range(0, len(rows), BATCH_SIZE):
            group = rows[start : start + BATCH_SIZE]
            batch = padded_batch([ids for _, ids, _ in group], tokenizer.pad_id)
            target_mask = batch.ids == tokenizer.mask_id  # includes any [MASK] of the text itself; it is not replaced
            batch = replace(batch, labels=torch.where(target_mask, batch.ids, IGNORE))
            logits = model(batch.to(device)).mlm_logits.float().cpu()
            index_of = {(row, column): i for i, (row, column) in enumerate(target_mask.nonzero().tolist())}
            logits[:, others] = float("-inf")
            for row, (number, _, blanks) in enumerate(group):
                for word, position, old in blanks:
                    scores = logits[index_of[row, position]].clone()
                    scores[old] = float("-inf")
                    best = scores.topk(min(top, len(scores) - len(others) - 1))
                    probs = best.values.double().softmax(0).numpy()
                    choice = rng.choice(len(probs), p=probs / probs.sum())
                    result[number][word] = tokenizer.vocab[int(best.indices[choice])]
        return result

    return fill
