"""Claims of BERT's relatives at small scale: how each experiment of `relative_catalogue` is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from minibert.experiments import relative_catalogue as catalogue
from minibert.experiments.dialogue import dialogue
from minibert.experiments.distillation import distillation
from minibert.experiments.few_labels import few_labels
from minibert.experiments.knowledge_injection import entities, names, roles
from minibert.experiments.pretraining_variants import batch_sizes, memory, task_orders
from minibert.experiments.pruning import pruning
from minibert.experiments.runner import Run, run_arms
from minibert.experiments.search import search
from minibert.experiments.sentence_vectors import cone, sentence_vectors
from minibert.experiments.simbert import simbert
from minibert.experiments.toy_stories import going_together, longer_rows, on_stories, pronouns
from minibert.experiments.writing import chinese_corrector, corrector, written
from minibert.train import Event


def toy(train: Callable[[Any, Mapping, int], Iterator[Event]]) -> Callable:
    """Of a claim on the toy world, which reads no files: train(scale, options of the arm, seed)."""
    return lambda experiment, tasks, folder: lambda arm, seed: train(experiment.scale, experiment.arms[arm], seed)


# The scale of an experiment → (experiment, folder of tasks, scratch folder) → run(arm, seed), see `run_arms`.
RUNS: dict[type, Callable[..., Run]] = {
    catalogue.RelativeScale: partial(on_stories, measure=pronouns),
    catalogue.LengthScale: partial(on_stories, measure=longer_rows),
    catalogue.JointScale: partial(on_stories, measure=going_together),
    catalogue.WritingScale: partial(on_stories, measure=written),
    catalogue.BatchScale: toy(batch_sizes),
    catalogue.ContinualScale: toy(task_orders),
    catalogue.EntitiesScale: toy(entities),
    catalogue.MemoryScale: toy(memory),
    catalogue.NamesScale: toy(names),
    catalogue.RolesScale: toy(roles),
    catalogue.ChineseCorrectingScale: chinese_corrector,
    catalogue.ConeScale: cone,
    catalogue.CorrectingScale: corrector,
    catalogue.DialogueScale: dialogue,
    catalogue.DistillationScale: distillation,
    catalogue.FewLabelsScale: few_labels,
    catalogue.PruningScale: pruning,
    catalogue.SearchScale: search,
    catalogue.SimBertScale: simbert,
    catalogue.VectorScale: sentence_vectors,
}


def run_relative(
    experiment: catalogue.RelativeExperiment,
    out: str | Path,
    *,
    seeds: int = 3,
    scale: object = None,
    command: str = "",
    tasks: Path | None = None,
) -> Iterator[Event]:
    """Run every arm, except what `out` already holds at this scale (`run_arms`). scale: by default the experiment's ·
    tasks: the folder that holds what the experiment `needs`."""
    experiment = replace(experiment, scale=scale or experiment.scale)
    scale = experiment.scale
    world = f"small toy world, {scale.stories} stories" if hasattr(scale, "stories") else "small toy world"

    def facts(arm: str) -> dict:
        chosen = experiment.arms[arm]
        begins = {"begins_with": scale.begins_with} if hasattr(scale, "begins_with") else {}
        options = asdict(chosen) if isinstance(chosen, catalogue.RelativeArm) else chosen
        return {"pretraining": {**begins, **options}, "data": [world]}

    with TemporaryDirectory() as folder:
        run = RUNS[type(scale)](experiment, tasks, Path(folder))
        yield from run_arms(
            experiment.name,
            experiment.arms,
            run,
            facts,
            out,
            seeds=seeds,
            required=catalogue.REQUIRED,
            scale=scale,
            command=command,
            stage=experiment.name,
        )
