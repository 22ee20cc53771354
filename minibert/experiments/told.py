"""Claims of SemBERT and ERNIE (Tsinghua) at small scale: a BERT of the toy world that is also given semantic roles, or
vectors of a knowledge graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from minibert.experiments.arms import run_arms
from minibert.experiments.relative_catalogue import EntitiesScale, RelativeExperiment, RolesScale
from minibert.folders import ROOT
from minibert.toy.entities_task import EntitySettings, train_entities
from minibert.toy.roles_task import RolesSettings, train_roles
from minibert.train import Done, Eval, Event


def run_roles(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: RolesScale, command: str
) -> Iterator[Event]:
    """Like `relatives.run_relative`; the arms' options are fields of `RolesSettings`. Each arm is trained once for each
    number of stories in `scale.told`, always from the same BERT."""

    def events(name: str, seed: int) -> Iterator[Event]:
        metrics, done = {}, Done(0, 0, 0.0)
        for stories in scale.told:
            settings = RolesSettings(
                scale.steps, **experiment.arms[name].options, stories=stories, held_out=scale.test,
                batch_size=scale.batch_size, evaluate_every=scale.steps, seed=seed,
            )  # fmt: skip
            for event in train_roles(settings, ROOT / scale.begins_with):
                if isinstance(event, Done):
                    done = Done(done.step + event.step, done.tokens + event.tokens, done.seconds + event.seconds)
                    continue
                if isinstance(event, Eval):
                    metrics |= {f"meant_{stories}": event.metrics["meant"], "commonest": event.metrics["commonest"]}
                yield event
        yield Eval(done.step, metrics)
        yield done

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="roles", events=events,
        facts=lambda name, seen: _facts(experiment, scale, name, seen),
    )  # fmt: skip


def run_entities(
    experiment: RelativeExperiment, out: str | Path, *, seeds: int, scale: EntitiesScale, command: str
) -> Iterator[Event]:
    """Like `relatives.run_relative`; the arms' options are fields of `EntitySettings`."""

    def events(name: str, seed: int) -> Iterator[Event]:
        settings = EntitySettings(
            scale.steps, **experiment.arms[name].options, stories=scale.stories, held_out=scale.test,
            batch_size=scale.batch_size, masked=scale.masked, evaluate_every=max(1, scale.steps // 4), seed=seed,
        )  # fmt: skip
        settings = replace(settings, optimization=replace(settings.optimization, learning_rate=scale.learning_rate))
        yield from train_entities(settings, ROOT / scale.begins_with)

    yield from run_arms(
        experiment, out, seeds=seeds, scale=scale, command=command, stage="entities", events=events,
        facts=lambda name, seen: _facts(experiment, scale, name, seen),
    )  # fmt: skip


def _facts(experiment: RelativeExperiment, scale, name: str, seen: list[Event]) -> dict:
    return {
        "pretraining": {"begins_with": scale.begins_with, **experiment.arms[name].options},
        "curve": [[event.step, event.metrics] for event in seen if isinstance(event, Eval)],
        "data": ["small toy world"],
    }
