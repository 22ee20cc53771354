"""Claims about pre-training, on the toy world: LAMB's batches, ERNIE 2.0's order of tasks, Transformer-XL's memory."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

from minibert.experiments.events import kept
from minibert.experiments.relative_catalogue import RelativeExperiment
from minibert.experiments.runner import Run
from minibert.folders import ROOT
from minibert.toy.continual import ContinualSettings, train_continually
from minibert.toy.large_batches import BatchSettings, train_in_batches
from minibert.toy.segments import SegmentSettings, train_on_segments
from minibert.train import Eval, Event


def batch_sizes(experiment: RelativeExperiment, tasks: Path | None, folder: Path) -> Run:
    """The same rows in larger and larger batches, the rate scaled by the paper's rule; an arm's options are fields of
    `BatchSettings`."""
    scale = experiment.scale

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        options, seen = experiment.arms[name], []
        settings = BatchSettings(**options, rows_read=scale.rows_read, stories=scale.stories, seed=seed)
        yield from kept(train_in_batches(settings), seen)
        marks = [event for event in seen if isinstance(event, Eval)]
        return {
            "pretraining": {**options, "rate": settings.optimization.learning_rate},
            "curve": [[event.step * settings.rows, event.metrics] for event in marks],
            "ratios": marks[-1].details["ratios"],
        }

    return run


def task_orders(experiment: RelativeExperiment, tasks: Path | None, folder: Path) -> Run:
    """Every arm, a regime, gives every task the same batches in another order, and is evaluated on all tasks."""
    scale, usual = experiment.scale, ContinualSettings()

    def run(regime: str, seed: int) -> Generator[Event, None, dict]:
        settings = replace(
            usual, regime=regime, steps=scale.steps, batch_size=scale.batch_size, stories=scale.stories,
            asked=scale.asked, evaluate_every=scale.steps // 8, seed=seed,
            optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
        )  # fmt: skip
        yield from train_continually(settings)
        return {"pretraining": {"plan": settings.plan}}

    return run


def memory(experiment: RelativeExperiment, tasks: Path | None, folder: Path) -> Run:
    """Stories in rows, each row read with the previous one in memory, or alone; an arm's options are fields of
    `SegmentSettings`."""
    scale, usual = experiment.scale, SegmentSettings()

    def run(name: str, seed: int) -> Iterator[Event]:
        settings = replace(
            usual, **experiment.arms[name], steps=scale.steps, batch_size=scale.batch_size, share=scale.masked,
            stories=scale.stories, held_out=scale.test, evaluate_every=max(1, scale.steps // 4), seed=seed,
            optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
        )  # fmt: skip
        return train_on_segments(settings, ROOT / scale.begins_with)

    return run
