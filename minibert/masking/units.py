"""Masking of whole units: words, phrases, entities, runs of words. Pure functions on one row of tokens; the caller
seeds.

A row's *units* are drawn until the budget is full, and each is hidden as a whole. Whole-word masking, ERNIE, SpanBERT
and MacBERT differ in which tokens form a unit.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Sequence

import torch
from torch import Tensor

from minibert.corruption import MaskVocabulary, masking_budget
from minibert.model import IGNORE

Unit = tuple[int, int]  # (start, end) in the row, the end exclusive
Tokens = tuple[int, ...]
LONGEST_PHRASE = 4  # words


def word_units(goes_on: Sequence[bool], special: Sequence[bool]) -> list[Unit]:
    """The words of a row. goes_on: whether a token continues the word of the one before it. Special tokens are in no
    word."""
    words: list[Unit] = []
    for place, (more, apart) in enumerate(zip(goes_on, special, strict=True)):
        if apart:
            continue
        if more and words and words[-1][1] == place:
            words[-1] = words[-1][0], place + 1
        else:
            words.append((place, place + 1))
    return words


def phrase_units(words: Sequence[Unit], between: Callable[[Unit], bool], longest: int = LONGEST_PHRASE) -> list[Unit]:
    """Adjacent words form a phrase, up to a word `between` phrases (article, preposition, punctuation), which is a unit
    of its own; a phrase of more than `longest` words is cut. As in the keyword extraction of Rose et al. 2010."""
    units: list[Unit] = []
    length = 0
    for word in words:
        if between(word):
            length = 0
            units.append(word)
        elif length and length < longest and units[-1][1] == word[0]:
            units[-1] = units[-1][0], word[1]
            length += 1
        else:
            units.append(word)
            length = 1
    return units


def entity_units(ids: Sequence[int], words: Sequence[Unit], names: Container[Tokens], longest: int = 8) -> list[Unit]:
    """Adjacent words that form one of `names` become one unit, the longest name first; each other word is a unit of
    its own."""
    units: list[Unit] = []
    at = 0
    while at < len(words):
        start = words[at][0]
        ends = range(min(at + longest, len(words)), at + 1, -1)
        last = next((end for end in ends if tuple(ids[start : words[end - 1][1]]) in names), at + 1)
        units.append((start, words[last - 1][1]))
        at = last
    return units


def draw_units(units: Sequence[Unit], budget: int, rng: random.Random) -> list[Unit]:
    """Units in random order until the budget of tokens is full; one that would overflow it is skipped. If each is
    longer than the budget, the shortest is drawn, so that the row has a target."""
    taken: list[Unit] = []
    order = rng.sample(units, len(units))
    for unit in order:
        if 0 < unit[1] - unit[0] <= budget:
            taken.append(unit)
            budget -= unit[1] - unit[0]
    if not taken and budget > 0 and order:
        taken = [min(order, key=lambda unit: unit[1] - unit[0])]
    return sorted(taken)


def draw_runs(words: Sequence[Unit], budget: int, length: Callable[[], int], rng: random.Random) -> list[list[Unit]]:
    """Runs of adjacent words, each of `length()` words from a random free word on, until the budget of tokens is full.
    A run ends early at a special token, at another run, or when the budget is used up."""
    free = dict.fromkeys(range(len(words)))
    taken: list[list[int]] = []
    while free and budget > 0:
        count, start = length(), rng.choice(list(free))
        run: list[int] = []
        for word in range(start, min(start + count, len(words))):
            size = words[word][1] - words[word][0]
            apart = run and words[word][0] != words[word - 1][1]
            if word not in free or apart or size > budget:
                break
            run.append(word)
            budget -= size
        for word in run or [start]:  # a word that does not fit is not tried again
            free.pop(word)
        if run:
            taken.append(run)
    if not taken and budget > 0 and words:
        taken = [[min(range(len(words)), key=lambda word: words[word][1] - words[word][0])]]
    return [[words[word] for word in run] for run in sorted(taken)]


def random_tokens(tokens: Sequence[int], vocab: MaskVocabulary, rng: random.Random) -> list[int]:
    """As many random entries of the vocabulary."""
    return [rng.randrange(vocab.size) for _ in tokens]


def hide_units(
    ids: Tensor,
    special: Tensor,
    joined: Tensor,
    vocab: MaskVocabulary,
    rng: torch.Generator,
    draw: Callable[[list[int], list[Unit], int, random.Random], list[Unit]],
    rate: float,
    split: tuple[float, float, float],
    replace_with: Callable[[Tokens, random.Random], Tokens | None] | None = None,
) -> tuple[Tensor, Tensor]:
    """Hide units in each row, all tokens of one in the same way. → (ids, labels), both (B, T), labels −100 elsewhere.

    draw(row, its words, budget, rng): the units to hide · replace_with(tokens, rng): replaces a unit instead of [MASK];
    None for random tokens. The other arguments as in `minibert.corruption.mask_tokens`.
    """
    dice = random.Random(int(torch.randint(2**62, (), generator=rng)))
    goes_on = vocab.continuation[ids] | joined
    budgets = masking_budget((~special).sum(dim=1), rate).tolist()
    rows, labels = ids.tolist(), torch.full_like(ids, IGNORE)
    for i, (row, more, apart) in enumerate(zip(rows, goes_on.tolist(), special.tolist(), strict=True)):
        for start, end in draw(list(row), word_units(more, apart), budgets[i], dice):
            labels[i, start:end] = ids[i, start:end]
            tokens, fate = row[start:end], dice.random()
            if fate < split[0]:
                masks = [vocab.mask_id] * len(tokens)
                other = masks if replace_with is None else replace_with(tuple(tokens), dice)
                row[start:end] = other or random_tokens(tokens, vocab, dice)
            elif fate < split[0] + split[1]:
                row[start:end] = random_tokens(tokens, vocab, dice)
    return torch.tensor(rows), labels
