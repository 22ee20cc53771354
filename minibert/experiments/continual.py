"""ERNIE 2.0's claim about continual multi-task learning at small scale: three regimes give every task the same batches,
in different orders, and each is evaluated on all tasks at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import ContinualScale, RelativeExperiment
from minibert.toy.continual import ContinualSettings, train_continually
from minibert.train import Eval, Event


def settings_of(regime: str, scale: ContinualScale, seed: int) -> ContinualSettings:
    usual = ContinualSettings()
    return replace(
        usual, regime=regime, steps=scale.steps, batch_size=scale.batch_size, stories=scale.stories, asked=scale.asked,
        evaluate_every=scale.steps // 8, seed=seed,
        optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
    )  # fmt: skip


def run_continual(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: ContinualScale, command: str
) -> Iterator[Event]:
    """Like `relatives.run_relative`; an arm is a regime."""

    def facts(regime: str, seen: list[Event]) -> dict:
        return {
            "pretraining": {"plan": settings_of(regime, scale, 0).plan},
            "curve": [[event.step, event.metrics] for event in seen if isinstance(event, Eval)],
            "data": [f"small toy world, {scale.stories} stories"],
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="pretrain",
        events=lambda regime, seed: train_continually(settings_of(regime, scale, seed)), facts=facts,
    )  # fmt: skip
