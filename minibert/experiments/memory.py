"""Transformer-XL's claim at small scale: stories in rows, each row read with the previous one in memory, or alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import MemoryScale, RelativeExperiment
from minibert.folders import ROOT
from minibert.toy.segments import SegmentSettings, train_on_segments
from minibert.train import Eval, Event


def run_memory(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: MemoryScale, command: str
) -> Iterator[Event]:
    """Like `relatives.run_relative`; the arms' options are fields of `SegmentSettings`."""

    def events(name: str, seed: int) -> Iterator[Event]:
        usual = SegmentSettings()
        settings = replace(
            usual, **experiment.arms[name].options, steps=scale.steps, batch_size=scale.batch_size, share=scale.masked,
            stories=scale.stories, held_out=scale.test, evaluate_every=max(1, scale.steps // 4), seed=seed,
            optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
        )  # fmt: skip
        yield from train_on_segments(settings, ROOT / scale.begins_with)

    def facts(name: str, seen: list[Event]) -> dict:
        return {
            "pretraining": {"begins_with": scale.begins_with, **experiment.arms[name].options},
            "curve": [[event.step, event.metrics] for event in seen if isinstance(event, Eval)],
            "data": [f"small toy world, {scale.stories} stories"],
        }

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="pretrain", events=events, facts=facts
    )
