"""An arm of an experiment in seconds: pre-trained on the toy world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from minibert.experiments.catalogue import Scale, experiment_named
from minibert.experiments.corpus import Corpus
from minibert.experiments.pretraining import heldout_loss, pretrain, start
from minibert.text.store import TokenStore
from minibert.tokenizer import Tokenizer
from minibert.toy import world as toy_world
from minibert.train import Done, Eval, Event, Started

SMALL = Scale(tokens=500_000, vocab_size=0, start="random")  # the toy world has its own vocabulary of words
SMALL_STORIES = 3_000


def toy_corpus(stories: int = SMALL_STORIES) -> Corpus:
    """The toy world as text to pre-train on, and other stories of it held out."""
    tokenizer = Tokenizer(toy_world.vocabulary())
    store, heldout = (TokenStore.build(toy_world.documents(n, seed), tokenizer) for n, seed in ((stories, 1), (300, 2)))
    return Corpus(tokenizer, store, heldout, ("toy world",))


def small_run(experiment: str, arm: str, seed: int = 0, tokens: int = SMALL.tokens) -> Iterator[Event]:
    """Pre-train one arm on the toy world, in seconds: Steps, then what it expects of stories it has not read, where
    that compares."""
    scale = replace(SMALL, tokens=tokens)
    whole = experiment_named(experiment)
    chosen = next((one for one in whole.arms if one.name == arm), None)
    if chosen is None:
        raise ValueError(f"the experiment {experiment} has no arm {arm!r}")
    corpus = toy_corpus()
    yield Started({"experiment": experiment, "arm": arm, "seed": seed})
    model = start(chosen.pretraining, corpus, scale, seed)
    for step in pretrain(model, chosen.pretraining, corpus, scale, seed):
        yield step
        if step.step >= scale.step_at(chosen.at):
            break
    metrics = {}
    if whole.heldout:
        metrics = {"heldout_loss": heldout_loss(model, chosen.pretraining, corpus, scale)}
        yield Eval(step.step, metrics)
    yield Done(step.step, step.tokens, step.seconds, metrics)
