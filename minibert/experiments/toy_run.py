"""One arm of the toy world's experiment in a minute or two, run exactly as for the records."""

from __future__ import annotations

from collections.abc import Iterator

from minibert.experiments.catalogue import TOY_SCALE, Scale, experiment_named
from minibert.experiments.events import Stage, within
from minibert.experiments.finetuning import read_data
from minibert.experiments.pretraining import pretrain, start
from minibert.experiments.run import PRETRAINING_SHARE, measure
from minibert.experiments.toy_corpus import STORIES, toy_corpus
from minibert.train import Done, Eval, Event, Preparing, Started

TOY = "toy-world"


def small_run(arm: str, seed: int = 0, scale: Scale = TOY_SCALE, stories: int = STORIES) -> Iterator[Event]:
    """Pre-train one arm, then measure it as for the records. Yields Steps, a Stage when the next training begins, and
    an Eval with the metrics of a record."""
    experiment = experiment_named(TOY)
    chosen = next((one for one in experiment.arms if one.name == arm), None)
    if chosen is None:
        raise ValueError(f"the experiment {TOY} has no arm {arm!r}")
    yield Preparing("writing stories")
    corpus = toy_corpus(stories)
    data = {name: read_data(name, None, scale) for name in experiment.tasks}
    yield Started({"arm": arm, "seed": seed})
    model = start(chosen.pretraining, corpus, scale, seed)
    yield Stage(arm, seed, "pretrain", 0.0)
    for step in within(pretrain(model, chosen.pretraining, corpus, scale, seed), 0.0, PRETRAINING_SHARE):
        yield step
        if step.step == scale.step_at(chosen.at):
            break
    measuring = measure(model, chosen, experiment, corpus, data, scale, seed, step.progress)
    metrics = yield from measuring
    yield Eval(step.step, metrics)
    yield Done(step.step, step.tokens, step.seconds, metrics)
