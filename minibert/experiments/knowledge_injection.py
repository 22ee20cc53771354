"""Claims about knowledge added to a BERT of the toy world: which name belongs where (WKLM), semantic roles (SemBERT),
vectors of a knowledge graph (ERNIE, Tsinghua)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from minibert.experiments.events import in_succession, within
from minibert.experiments.relative_catalogue import RelativeExperiment
from minibert.experiments.runner import Run
from minibert.experiments.toy_stories import PRETRAINING_SHARE, who_is_meant_by
from minibert.folders import ROOT
from minibert.toy.entities_task import EntitySettings, train_entities
from minibert.toy.names_task import NamesSettings, train_names
from minibert.toy.roles_task import RolesSettings, train_roles
from minibert.train import Eval, Event


def names(experiment: RelativeExperiment, tasks: Path | None, folder: Path) -> Run:
    """From one BERT, on the same stories: which arm finds replaced names, knows which name belongs where, and learns
    fastest to resolve pronouns. An arm's options are fields of `NamesSettings`."""
    scale, usual = experiment.scale, NamesSettings()

    def run(name: str, seed: int) -> Iterator[Event]:
        settings = replace(
            usual, **experiment.arms[name], steps=scale.steps, batch_size=scale.batch_size,
            masked=scale.masked, stories=scale.stories, held_out=scale.held_out, seed=seed,
            evaluate_every=max(1, scale.steps // 6),
            optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
        )  # fmt: skip
        with TemporaryDirectory(dir=folder) as model:
            metrics = {}
            for event in within(train_names(settings, ROOT / scale.begins_with, out=model), 0.0, PRETRAINING_SHARE):
                metrics = event.metrics if isinstance(event, Eval) else metrics
                yield event
            tuned = yield from within(who_is_meant_by(Path(model), scale, seed), PRETRAINING_SHARE, 1.0)
        yield Eval(scale.steps, {**metrics, "who_is_meant": tuned.metrics["f1"]})

    return run


def roles(experiment: RelativeExperiment, tasks: Path | None, folder: Path) -> Run:
    """Each arm is trained once for each number of stories in `scale.told`, always from the same BERT; its options are
    fields of `RolesSettings`."""
    scale = experiment.scale

    def run(name: str, seed: int) -> Iterator[Event]:
        settings = RolesSettings(
            scale.steps, **experiment.arms[name], held_out=scale.test, batch_size=scale.batch_size,
            evaluate_every=scale.steps, seed=seed,
        )  # fmt: skip
        start = ROOT / scale.begins_with
        runs = {number: train_roles(replace(settings, stories=number), start) for number in scale.told}
        found = yield from in_succession(runs)
        metrics = {f"meant_{number}": one["meant"] for number, one in found.items()}
        yield Eval(0, metrics | {"commonest": found[scale.told[-1]]["commonest"]})

    return run


def entities(experiment: RelativeExperiment, tasks: Path | None, folder: Path) -> Run:
    """An arm's options are fields of `EntitySettings`."""
    scale = experiment.scale

    def run(name: str, seed: int) -> Iterator[Event]:
        settings = EntitySettings(
            scale.steps, **experiment.arms[name], stories=scale.stories, held_out=scale.test,
            batch_size=scale.batch_size, masked=scale.masked, evaluate_every=max(1, scale.steps // 4), seed=seed,
        )  # fmt: skip
        settings = replace(settings, optimization=replace(settings.optimization, learning_rate=scale.learning_rate))
        return train_entities(settings, ROOT / scale.begins_with)

    return run
