"""One arm of the toy world's experiment in a minute or two, run exactly as for the records."""

from __future__ import annotations

from collections.abc import Iterator

from minibert.experiments.catalogue import Scale, experiment_named
from minibert.experiments.finetuning import read_data
from minibert.experiments.run import runs_of
from minibert.experiments.toy_corpus import STORIES, toy_corpus
from minibert.train import Event, Preparing

TOY = "toy-world"


def small_run(arm: str, seed: int = 0, scale: Scale | None = None, stories: int = STORIES) -> Iterator[Event]:
    """Pre-train one arm, then measure it as for the records. Yields Steps, a Stage when the next training begins, and
    an Eval with the metrics of a record."""
    experiment = experiment_named(TOY)
    if arm not in experiment.arms:
        raise ValueError(f"the experiment {TOY} has no arm {arm!r}")
    yield Preparing("writing stories")
    corpus, scale = toy_corpus(stories), scale or experiment.scale
    yield from runs_of(experiment, corpus, read_data(scale), scale)(arm, seed)
