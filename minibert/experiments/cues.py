"""Record models that learn spurious cues: planted ones, HANS's three heuristics, ARCT and its adversarial version.

    python -m minibert.experiments.cues --model checkpoints/minilm-en not overlap

appends a line per finished arm and seed to lessons/results/<model>/cues.jsonl. HANS and ARCT are read from the folder
that MINIBERT_DATA names (tasks/en/hans, tasks/en/arct2) and are left out without it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from minibert.folders import CHECKPOINTS, LESSONS, input_path, results_to_extend
from minibert.inside.predictions.spurious_cues import CONDITIONS, by_heuristic, overlap_pairs, together, with_aside
from minibert.tasks import TaskData, task_named

if TYPE_CHECKING:
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Event

REVIEWS = LESSONS / "data" / "reviews"
CASES = ("not", "overlap", "arct")
TRAIN_PAIRS, TEST_PAIRS = 600, 120  # for "overlap"; "not" puts asides in front of the course's reviews
EPOCHS, RATE = 2, 3e-4
WIDER = {"minilm-en": 1 / 3}  # checkpoint → factor of the rate, which suits mini-en
ARCT_EPOCHS = 3
REQUIRED = {"experiment", "arm", "seed", "metrics", "settings", "examples", "model", "command", "machine"}


def sets_of(cue: str) -> tuple[str, dict[str, TaskData], TaskData]:
    """(task, training condition → data, the three test conditions as one set) for a planted cue."""
    if cue == "not":
        train, dev = (task_named("classification").read(REVIEWS / f"{part}.tsv") for part in ("train", "dev"))
        trainings = {name: with_aside(train, name, seed=0) for name in ("planted", "balanced")}
        return "classification", trainings, together(*(with_aside(dev, name, seed=1) for name in CONDITIONS))
    trainings = {name: overlap_pairs(TRAIN_PAIRS, name, seed=0) for name in ("planted", "balanced")}
    return "pair", trainings, together(*(overlap_pairs(TEST_PAIRS, name, seed=1) for name in CONDITIONS))


def rate_for(model: str) -> float:
    """The learning rate for this checkpoint; lower for a wider one."""
    return float(f"{RATE * WIDER.get(model, 1.0):.0e}")


def settings_of(case: str, model: str, seed: int) -> FinetuneSettings:
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    arct = case == "arct"
    return FinetuneSettings(
        epochs=ARCT_EPOCHS if arct else EPOCHS,
        pooling="mean" if case == "not" else "cls",
        seed=seed,
        optimization=Optimization(learning_rate=rate_for(model) / 3 if arct else rate_for(model)),
        evaluations_per_epoch=1 if arct else 2,
        dev_sample=5000,
    )


def accuracies(examples: list[dict], predictions: list[dict]) -> dict[str, float]:
    """Test condition → accuracy. examples, predictions: as in the events of a run."""
    grades: dict[str, list[float]] = {}
    for example, said in zip(examples, predictions, strict=True):
        grades.setdefault(example["extra"]["condition"], []).append(said["grade"])
    return {test: sum(values) / len(values) for test, values in grades.items()}


def _arct(data: Path | None) -> tuple[str, dict[str, TaskData], TaskData]:
    if data is None:
        raise ValueError("ARCT is read from the folder that MINIBERT_DATA names")
    folder = data / "arct2"
    read, files = task_named("choice").read, (folder / "test.csv", folder / "test-adv-negated.csv")
    tests = [
        replace(test, examples=[replace(one, extra={**one.extra, "condition": name}) for one in test.examples])
        for name, test in zip(("original", "adversarial"), map(read, files), strict=True)
    ]
    return "choice", {"original": read(folder / "train.csv")}, together(*tests)


def run_cues(start: Path, case: str, out: Path, seeds: int, data: Path | None, command: str) -> Iterator:
    """Train under every condition, except what `out` already holds (`run_arms`). data: holds hans/ and arct2/."""
    from minibert.experiments.runner import run_arms
    from minibert.finetune.predictor import Predictor
    from minibert.finetune.run import finetune
    from minibert.train import Eval, Started

    task, trainings, tests = _arct(data) if case == "arct" else sets_of(case)
    train_of = {f"{case}/{training}": train for training, train in trainings.items()}
    hans = None
    if case == "overlap" and data is not None:
        hans = task_named("pair").read(data / "hans" / "heuristics_evaluation_set.tsv")

    def run(arm: str, seed: int) -> Generator[Event, None, dict]:
        settings, curve = settings_of(case, start.name, seed), list[Any]()
        with TemporaryDirectory() as folder:
            for event in finetune(start, task, train_of[arm], tests, settings, out=Path(folder) / "model"):
                if isinstance(event, Started):
                    examples = event.details["dev_examples"]
                elif isinstance(event, Eval):
                    curve.append([event.step, accuracies(examples, event.details["predictions"])])
                yield event
            metrics = dict(curve[-1][1])
            if hans is not None:
                metrics["hans"] = by_heuristic(Predictor.from_directory(Path(folder) / "model"), hans)
        return {"metrics": metrics, "curve": curve}

    def facts(arm: str) -> dict:
        settings = settings_of(case, start.name, 0)
        return {
            "settings": {"epochs": settings.epochs, "learning_rate": settings.optimization.learning_rate},
            "examples": len(train_of[arm].examples),
            "measured_on": len(tests.examples),
            "model": start.name,
        }

    yield from run_arms("cues", train_of, run, facts, out, seeds=seeds, required=REQUIRED, command=command, stage=case)


def main() -> None:
    from minibert.experiments.events import Finished

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", default=CASES[:2], help=f"of {', '.join(CASES)}; all but the last if none")
    parser.add_argument("--model", type=input_path, default=CHECKPOINTS / "mini-en")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    found = os.environ.get("MINIBERT_DATA")
    data = Path(found) / "tasks" / "en" if found else None
    out = results_to_extend(f"{options.model.name}/cues.jsonl")
    for case in options.case:
        if case == "arct" and data is None:
            parser.error("ARCT is read from the folder that MINIBERT_DATA names")
        chosen = f"--model checkpoints/{options.model.name} --seeds {options.seeds} {case}"
        command = f"python -m minibert.experiments.cues {chosen}"
        for event in run_cues(options.model, case, out, options.seeds, data, command):
            if isinstance(event, Finished):
                record = event.record
                print(record["arm"], record["seed"], record["metrics"], f"{record['seconds']} s", flush=True)


if __name__ == "__main__":
    main()
