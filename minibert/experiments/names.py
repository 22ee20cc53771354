"""WKLM's claim at small scale: from one BERT, on the same stories, which arm finds replaced names, knows which name
belongs where, and learns fastest to resolve pronouns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from minibert.experiments.arms import run_arms
from minibert.experiments.pronouns import settings_of, who_is_meant_by
from minibert.experiments.relative_catalogue import NamesScale, RelativeArm, RelativeExperiment
from minibert.folders import ROOT
from minibert.toy.names_task import NamesSettings, train_names
from minibert.train import Eval, Event


def run_names(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: NamesScale, command: str
) -> Iterator[Event]:
    """Like `relatives.run_relative`; the arms' options are fields of `NamesSettings`."""

    def events(name: str, seed: int) -> Iterator[Event]:
        usual = NamesSettings()
        settings = replace(
            usual, **experiment.arms[name].options, steps=scale.steps, batch_size=scale.batch_size,
            masked=scale.masked, stories=scale.stories, held_out=scale.held_out, seed=seed,
            evaluate_every=max(1, scale.steps // 6),
            optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
        )  # fmt: skip
        with TemporaryDirectory() as folder:
            metrics = {}
            for event in train_names(settings, ROOT / scale.begins_with, out=folder):
                metrics = event.metrics if isinstance(event, Eval) else metrics
                yield event
            tuning = who_is_meant_by(Path(folder), settings_of(RelativeArm(), scale, seed), scale)
            while True:
                try:
                    next(tuning)
                except StopIteration as ended:
                    yield Eval(scale.steps, {**metrics, "who_is_meant": ended.value.metrics["f1"]})
                    return

    def facts(name: str, seen: list[Event]) -> dict:
        return {
            "pretraining": {"begins_with": scale.begins_with, **experiment.arms[name].options},
            "curve": [[event.step, event.metrics] for event in seen if isinstance(event, Eval)],
            "data": [f"small toy world, {scale.stories} stories"],
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="pretrain", events=events, facts=facts
    )
