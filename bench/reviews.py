"""What do pre-trained weights bring? The shipped reviews, fine-tuned from the checkpoint and from random weights.

    python -m bench.reviews [--model checkpoints/mini-en] [--seeds 5] [--record NAME]

Trained on train.tsv, evaluated after the last epoch on dev.tsv and test.tsv together (244 sentences). Both starts have
the same seeds, batches and settings.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from bench.machine import record
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.tasks import TASKS, TaskData
from minibert.train import Done, Optimization

DATA = Path(__file__).resolve().parent.parent / "lessons" / "data" / "reviews"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path("checkpoints/mini-en"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--pooling", default="cls", choices=("cls", "mean"))
    parser.add_argument("--record", metavar="NAME", help="write bench/results/NAME.json")
    options = parser.parse_args()
    train = TASKS["classification"].read(DATA / "train.tsv")
    held_out = [TASKS["classification"].read(DATA / f"{part}.tsv").examples for part in ("dev", "test")]
    dev = TaskData([example for part in held_out for example in part])
    results: dict = {key: getattr(options, key) for key in ("epochs", "learning_rate", "pooling")}
    for start in ("checkpoint", "random weights"):
        accuracies, seconds = [], []
        for seed in range(options.seeds):
            settings = FinetuneSettings(
                epochs=options.epochs,
                pooling=options.pooling,
                optimization=Optimization(learning_rate=options.learning_rate),
                seed=seed,
                from_scratch=start == "random weights",
            )
            events = list(finetune(options.model, "classification", train, dev, settings))
            done = next(event for event in events if isinstance(event, Done))
            accuracies.append(round(done.metrics["accuracy"], 4))
            seconds.append(round(done.seconds, 1))
        mean, spread = statistics.fmean(accuracies), statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0
        results[start] = {
            "accuracy": accuracies,
            "mean": round(mean, 4),
            "deviation": round(spread, 4),
            "seconds": seconds,
        }
        print(f"{start:15} {mean:.1%} ± {100 * spread:.1f} points over {options.seeds} seeds: {accuracies}", flush=True)
    if options.record:
        print("recorded", record(options.record, results))


if __name__ == "__main__":
    main()
