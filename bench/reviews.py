"""What do pre-trained weights bring? The shipped reviews, fine-tuned from the checkpoint and from random weights.

    python -m bench.reviews [--model checkpoints/mini-en] [--seeds 5] [--record NAME]

Trained on train.tsv, evaluated after the last epoch on dev.tsv and test.tsv together (244 sentences). Both starts have
the same seeds, batches and settings.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from bench.machine import arguments, finetuned, record
from minibert.folders import LESSONS
from minibert.tasks import TASKS, TaskData

DATA = LESSONS / "data" / "reviews"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--model", type=Path, default=Path("checkpoints/mini-en"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--pooling", default="cls", choices=("cls", "mean"))
    options = parser.parse_args()
    train = TASKS["classification"].read(DATA / "train.tsv")
    held_out = [TASKS["classification"].read(DATA / f"{part}.tsv").examples for part in ("dev", "test")]
    dev = TaskData([example for part in held_out for example in part])
    settings = {key: getattr(options, key) for key in ("epochs", "learning_rate", "pooling")}
    results: dict = dict(settings)
    for start in ("checkpoint", "random weights"):
        accuracies, seconds = [], []
        for seed in range(options.seeds):
            settings |= {"seed": seed, "from_scratch": start == "random weights"}
            done = finetuned(options.model, "classification", train, dev, **settings)
            accuracies.append(round(done.metrics["accuracy"], 4))
            seconds.append(round(done.seconds, 1))
        mean, spread = statistics.fmean(accuracies), statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0
        figures = {"accuracy": accuracies, "mean": round(mean, 4), "deviation": round(spread, 4), "seconds": seconds}
        results[start] = figures
        print(f"{start:15} {mean:.1%} ± {100 * spread:.1f} points over {options.seeds} seeds: {accuracies}", flush=True)
    record(options.record, results)


if __name__ == "__main__":
    main()
