"""Claims about knowledge added to a BERT of the toy world: which name belongs where (WKLM), semantic roles (SemBERT),
vectors of a knowledge graph (ERNIE, Tsinghua).

Each function trains an arm of a scale with its options, fields of the training's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from minibert.experiments.events import in_succession, within
from minibert.experiments.relative_catalogue import EntitiesScale, NamesScale, RolesScale
from minibert.experiments.toy_stories import PRETRAINING_SHARE, at_scale, who_is_meant_by
from minibert.folders import ROOT
from minibert.toy.entities_task import EntitySettings, train_entities
from minibert.toy.names_task import NamesSettings, train_names
from minibert.toy.roles_task import RolesSettings, train_roles
from minibert.train import Eval, Event


def names(scale: NamesScale, options: Mapping, seed: int) -> Iterator[Event]:
    """From one BERT, on the same stories: which arm finds replaced names, knows which name belongs where, and learns
    fastest to resolve pronouns."""
    more = {"masked": scale.masked, "held_out": scale.held_out}
    settings = at_scale(NamesSettings(), scale, options, seed, evaluations=6, **more)
    with TemporaryDirectory() as model:
        metrics: dict[str, float] = {}
        for event in within(train_names(settings, ROOT / scale.begins_with, out=model), 0.0, PRETRAINING_SHARE):
            metrics = event.metrics if isinstance(event, Eval) else metrics
            yield event
        tuned = yield from within(who_is_meant_by(Path(model), scale, seed), PRETRAINING_SHARE, 1.0)
    yield Eval(scale.steps, {**metrics, "who_is_meant": tuned.metrics["f1"]})


def roles(scale: RolesScale, options: Mapping, seed: int) -> Iterator[Event]:
    """One training for each number of stories in `scale.told`, always from the same BERT."""
    settings = RolesSettings(
        scale.steps, **options, held_out=scale.test, batch_size=scale.batch_size, evaluate_every=scale.steps, seed=seed
    )
    start = ROOT / scale.begins_with
    found = yield from in_succession(
        {number: train_roles(replace(settings, stories=number), start) for number in scale.told}
    )
    metrics = {f"meant_{number}": one["meant"] for number, one in found.items()}
    yield Eval(0, metrics | {"commonest": found[scale.told[-1]]["commonest"]})


def entities(scale: EntitiesScale, options: Mapping, seed: int) -> Iterator[Event]:
    """A BERT whose vectors of names are reset, told of the graph or not."""
    more = {"masked": scale.masked, "held_out": scale.test}
    settings = at_scale(EntitySettings(), scale, options, seed, evaluations=4, **more)
    return train_entities(settings, ROOT / scale.begins_with)
