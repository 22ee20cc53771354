"""LAMB's claim at small scale: the same rows in larger and larger batches, the rate scaled by the paper's rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import BatchScale, RelativeExperiment
from minibert.toy.large_batches import BatchSettings, train_in_batches
from minibert.train import Eval, Event


def run_batches(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: BatchScale, command: str
) -> Iterator[Event]:
    """Like `relatives.run_relative`; the arms' options are fields of `BatchSettings`."""

    def settings_of(name: str, seed: int) -> BatchSettings:
        return BatchSettings(
            **experiment.arms[name].options, rows_read=scale.rows_read, stories=scale.stories, seed=seed
        )

    def facts(name: str, seen: list[Event]) -> dict:
        settings, marks = settings_of(name, 0), [event for event in seen if isinstance(event, Eval)]
        return {
            "pretraining": {**experiment.arms[name].options, "rate": settings.optimization.learning_rate},
            "curve": [[event.step * settings.rows, event.metrics] for event in marks],
            "ratios": marks[-1].details["ratios"],
            "data": [f"small toy world, {scale.stories} stories"],
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="pretrain",
        events=lambda name, seed: train_in_batches(settings_of(name, seed)), facts=facts,
    )  # fmt: skip
