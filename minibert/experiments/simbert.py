"""SimBERT's claim at small scale: training to write a paraphrase and training to recognise it, each alone and both,
from one checkpoint, on LCQMC."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from minibert import checkpoint
from minibert.experiments.relative_catalogue import RelativeExperiment
from minibert.experiments.runner import Run
from minibert.folders import ROOT
from minibert.sentence_vectors.inference import pairs_labelled
from minibert.sentence_vectors.simbert import SimBertSettings, to_unilm
from minibert.sentence_vectors.simbert_run import measured, train_simbert
from minibert.train import Eval, Event, Optimization, Started

FILES = {"train": "dev.txt", "test": "test.txt"}  # the training part of LCQMC is not among our data


def simbert(experiment: RelativeExperiment, tasks: Path, folder: Path) -> Run:
    """tasks: the folder that holds lcqmc/. All arms train on the paraphrase pairs of its development set and are
    evaluated on the first ones of its test set; their options are fields of `SimBertSettings`, without any an arm is
    not trained and gives the same result for every seed."""
    scale = experiment.scale
    train, test = (pairs_labelled(tasks / "lcqmc" / file) for file in FILES.values())
    first, second = ([(text, str(i)) for i, text in enumerate(side[: scale.asked])] for side in zip(*test, strict=True))
    measured_on: dict[str, Any] = {"held_out": first, "desk": second, "pairs": test[: scale.written]}
    start = ROOT / scale.begins_with

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        if options := experiment.arms[name]:
            settings = SimBertSettings(
                **options,
                steps=scale.steps,
                batch_size=scale.batch_size,
                evaluate_every=scale.steps,
                seed=seed,
                optimization=Optimization(learning_rate=scale.learning_rate, warmup=0.1),
            )
            yield from train_simbert(settings, start, train, **measured_on)
        else:
            model = to_unilm(checkpoint.load(start)).eval()
            yield Started({}, {"parameters": sum(weight.numel() for weight in model.parameters())})
            yield Eval(0, measured(model, checkpoint.load_tokenizer(start), **measured_on))
        return {
            "data": [f"lcqmc/{file}" for file in FILES.values()],
            "examples": {"lcqmc": len(train)},
            "measured_on": {"found": scale.asked, "nats": scale.written},
        }

    return run
