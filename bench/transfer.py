"""What pre-trained weights bring to a real task, by the number of labelled examples.

    python -m bench.transfer --train $MINIBERT_DATA/tasks/en/sst2/train.tsv --dev $MINIBERT_DATA/tasks/en/sst2/dev.tsv \
        [--model checkpoints/mini-en] [--examples 500 2000 all] [--seeds 3] [--averaging 0.5] [--record NAME]

The first N examples of a fixed shuffle of the training file; from the checkpoint and from random weights of the same
sizes; same seeds and batches for both; with all examples, rows of similar length share a batch. The figure is the
accuracy on the dev file after the last epoch, never the best along the way. Few examples get more epochs, so that both
starts converge. Finished runs are recorded at once and not repeated.
"""

from __future__ import annotations

import random
import statistics
from pathlib import Path

import torch

from bench.machine import LAST_ONLY, arguments, finetuned, record, recorded
from minibert.tasks import TASKS, TaskData

EPOCHS = {500: 12, 2000: 6}  # epochs for fewer examples; for all, three


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=Path("checkpoints/mini-en"))
    parser.add_argument("--examples", nargs="+", default=["500", "2000", "all"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--pooling", default="mean", choices=("cls", "mean"))
    parser.add_argument("--max-length", type=int, default=128)
    parser.add_argument("--averaging", type=float, default=0.0, help="as of python -m minibert finetune")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    everything, dev = (TASKS["classification"].read(path) for path in (options.train, options.dev))
    shuffled = list(everything.examples)
    random.Random(0).shuffle(shuffled)
    fields = {key: getattr(options, key) for key in ("learning_rate", "pooling", "max_length", "averaging")}
    settings = fields | {
        "train": options.train.name,
        "task": options.train.parent.name,
        "measured_on": len(dev.examples),
    }
    results = recorded(options.record) or settings
    if changed := [key for key, value in settings.items() if results[key] != value]:
        parser.error(f"{options.record} was recorded with another {', '.join(changed)}")
    for count in options.examples:
        number = len(shuffled) if count == "all" else int(count)
        train = TaskData(shuffled[:number])
        for seed in range(options.seeds):
            for start in ("checkpoint", "random weights"):
                epochs = EPOCHS.get(number, 3)
                arm = results.setdefault(count, {}).setdefault(start, {"epochs": epochs, "runs": {}})
                if str(seed) in arm["runs"]:
                    continue
                how = {"from_scratch": start == "random weights", "group_by_length": count == "all", **LAST_ONLY}
                done = finetuned(options.model, "classification", train, dev, seed=seed, epochs=epochs, **fields, **how)
                accuracy, seconds = done.metrics["accuracy"], done.seconds
                arm["runs"][str(seed)] = {"accuracy": round(accuracy, 4), "seconds": round(seconds, 1)}
                arm["mean"] = round(statistics.fmean(run["accuracy"] for run in arm["runs"].values()), 4)
                print(f"{count:>6} examples  seed {seed}  {start:15} {accuracy:.1%}  {seconds:.0f} s", flush=True)
                record(options.record, results)


if __name__ == "__main__":
    main()
