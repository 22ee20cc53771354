"""The toy world as the text of an experiment, and baselines that do not read the stories."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from minibert.experiments.catalogue import Scale
from minibert.experiments.corpus import Corpus
from minibert.experiments.finetuning import read_data
from minibert.experiments.pretraining import heldout_batches
from minibert.model import IGNORE
from minibert.text.cooccurrence import frequencies
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from minibert.toy.pretrain import WordQuestion, questions
from minibert.toy.tasks import always_the_first
from minibert.toy.world import Story

WORLD = "small"
STORIES, HELD_OUT, QUESTIONED, COUNTED = 6_000, 600, 60, 1_000
SEEDS = {"read": 1, "held out": 2, "questions": 1_000_003, "counted": 2_000_003}


def toy_corpus(stories: int = STORIES) -> Corpus:
    """Stories for pre-training, others held out, and questions about the determined words of yet others."""
    tokenizer = Tokenizer(toy_world.vocabulary())
    store, heldout = (
        TokenStore.build(toy_world.documents(n, SEEDS[part], WORLD), tokenizer)
        for n, part in ((stories, "read"), (HELD_OUT, "held out"))
    )
    others = toy_world.stories(QUESTIONED, SEEDS["questions"], WORLD)
    determined = tuple(questions(others, tokenizer, max_length=128))
    names = (f"{WORLD} toy world, {stories} stories",)
    return Corpus(tokenizer, store, heldout, names, determined, tuple(one_sided(others, determined)))


def one_sided(stories: Sequence[Story], determined: Sequence[WordQuestion]) -> list[WordQuestion]:
    """The questions about these stories that only words before, or only words after the hidden one decide: equally many
    of both, evenly spaced."""
    sides: dict[str, list[WordQuestion]] = {"before": [], "after": []}
    words = [(place, word) for story in stories for place, word in enumerate(story.words) if word.kind is not None]
    for (place, word), (ids, at, _) in zip(words, determined, strict=True):
        if place > max(word.determined_by):
            sides["before"].append((ids, at, "before"))
        elif place < min(word.determined_by):
            sides["after"].append((ids, at, "after"))
    count = min(map(len, sides.values()))
    return [each[number * len(each) // count] for each in sides.values() for number in range(count)]


def without_reading(corpus: Corpus, scale: Scale) -> dict[str, float]:
    """Scores without understanding: the word most often between these two neighbours; for a gap, always the story's
    first word that is an answer anywhere; for a perplexity, token frequencies alone."""
    others = toy_world.stories(COUNTED, SEEDS["counted"], WORLD)
    _, dev = read_data(scale)
    first = always_the_first(dev)
    return {
        "determined": toy_world.guessable_without_context(others, neighbours=2),
        "meant": first,
        "meant_features": first,
        "mlm_perplexity": perplexity_of_frequencies(corpus, scale),
    }


def perplexity_of_frequencies(corpus: Corpus, scale: Scale) -> float:
    """For the masked tokens of the held-out text; frequencies are counts in the training text, plus one."""
    counts = frequencies(corpus.store, corpus.tokenizer.vocab_size) + 1.0
    batches = heldout_batches("mlm", corpus, scale)
    labels = np.concatenate([batch.labels.flatten().numpy() for batch in batches if batch.labels is not None])
    hidden = labels[labels != IGNORE]
    return math.exp(-np.log(counts[hidden] / counts.sum()).mean())
