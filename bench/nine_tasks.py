"""What do pre-trained weights bring to each task? Every English set of the course, with the page's own settings.

    python -m bench.nine_tasks [--sets reviews entities …] [--arms minilm-en mini-en random] [--seeds 0 1 2] [--record]

One run per set, start and seed: from `minilm-en`, from `mini-en`, and from random weights of `minilm-en`'s sizes, each
with the settings of *One output layer* for it. `--record` adds a line per run to lessons/results/tasks.jsonl, whose
curves the page draws faintly; runs recorded with the same settings are not repeated.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import asdict

from minibert.checkpoint import config_values
from minibert.config import BertConfig
from minibert.experiments.records import append_record
from minibert.experiments.results import read_records
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.folders import CHECKPOINTS, LESSONS
from minibert.train import Optimization
from minibert.training import machine
from ui.finetune_settings import suited
from ui.task_data import shipped, shipped_sets

OUT = LESSONS / "results" / "tasks.jsonl"
ARMS = ("minilm-en", "mini-en", "random")
SIZES_OF_RANDOM = "minilm-en"
REQUIRED = {"set", "arm", "seed", "values", "metric", "floor", "score", "curve", "loss"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    english = [name for name, one in shipped_sets().items() if one.language == "en"]
    parser.add_argument("--sets", nargs="+", default=english, choices=list(shipped_sets()))
    parser.add_argument("--arms", nargs="+", default=ARMS, choices=ARMS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--record", action="store_true", help="add the runs to lessons/results/tasks.jsonl")
    options = parser.parse_args()
    for name in options.sets:
        for arm in options.arms:
            for seed in options.seeds:
                print(line_of(run_of(name, arm, seed, options.record)), flush=True)


def line_of(run: dict) -> str:
    floor = "–" if run["floor"] is None else f"{run['floor']:.3f}"
    return f"{run['set']:18} {run['arm']:10} seed {run['seed']} {run['metric']} {run['score']:.3f}  trivial {floor}"


def run_of(name: str, arm: str, seed: int, keep: bool) -> dict:
    """The record of a run, made now unless it exists."""
    data, start = shipped(name), CHECKPOINTS / (SIZES_OF_RANDOM if arm == "random" else arm)
    values = asdict(suited(data, BertConfig.from_dict(config_values(start))))
    for record in read_records(OUT, REQUIRED) if keep else []:
        if (record["set"], record["arm"], record["seed"], record["values"]) == (name, arm, seed, values):
            return record
    settings = FinetuneSettings(
        epochs=values["epochs"],
        batch_size=values["batch"],
        max_length=values["max_length"],
        optimization=Optimization(learning_rate=values["rate"]),
        seed=seed,
        from_scratch=arm == "random",
    )
    begun = time.process_time()
    events = [event.as_dict() for event in finetune(start, data.task, data.train, data.dev, settings)]
    per_epoch = events[0]["details"]["steps_per_epoch"]
    metric = data.task.metric
    measured = [event for event in events if event["event"] == "eval"]
    record = {
        "set": name,
        "arm": arm,
        "seed": seed,
        "values": values,
        "metric": metric,
        "floor": data.task.trivial([asdict(example) for example in data.dev.examples]),
        "score": round(measured[-1]["metrics"][metric], 4),
        "curve": [[round(e["step"] / per_epoch, 3), round(e["metrics"][metric], 4)] for e in measured],
        "loss": losses(events, per_epoch),
        "seconds": round(time.process_time() - begun, 1),  # CPU seconds
        "command": "python -m bench.nine_tasks --record",
        "machine": machine.description(),
    }
    if keep:
        append_record(OUT, record)
    return record


def losses(events: list[dict], per_epoch: int) -> list[list[float]]:
    """(epoch, mean training loss) of each half epoch."""
    halves: dict[int, list[float]] = {}
    for event in events:
        if event["event"] == "step":
            halves.setdefault(2 * (event["step"] - 1) // per_epoch, []).append(event["loss"])
    return [[half / 2 + 0.5, round(statistics.fmean(values), 4)] for half, values in halves.items()]


if __name__ == "__main__":
    main()
