"""prune: remove parts of a fine-tuned model, and train what is left."""

from __future__ import annotations

from pathlib import Path

from minibert.command_line.arguments import add_command, positive
from minibert.command_line.printing import print_events
from minibert.command_line.task_files import file_options, read_task_data
from minibert.folders import input_path
from minibert.pruning.keep import KINDS


def add_commands(commands) -> None:
    sub = add_command(
        commands,
        "prune",
        prune,
        "Cut heads, neurons, layers or weights away from a classifier, and train what is left.",
    )
    sub.add_argument("--model", required=True, type=input_path, help="what finetune left, for a task of classes")
    sub.add_argument("--what", choices=KINDS, default="heads", help="weights: single ones become 0 (default: heads)")
    sub.add_argument(
        "--share", type=float, default=0.5, help="of all of them, the least important first (default: 0.5)"
    )
    sub.add_argument(
        "--train", required=True, type=input_path, help="importance is measured on it, and it is learned from"
    )
    sub.add_argument("--dev", required=True, type=input_path, help="to measure on")
    sub.add_argument("--out", required=True, type=Path)
    sub.add_argument("--epochs", type=positive(int), default=1)
    sub.add_argument("--batch-size", type=positive(int), default=32)
    sub.add_argument("--learning-rate", type=positive(float), default=1e-4, help="default: 1e-4")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--threads", type=positive(int), help="processor threads")
    file_options(sub)


def prune(options) -> None:
    from minibert.checkpoint import config_values
    from minibert.finetune.predictor import Predictor
    from minibert.finetune.settings import FinetuneSettings
    from minibert.pruning.run import Pruning
    from minibert.pruning.run import prune as run
    from minibert.tasks import task_named
    from minibert.train import Optimization

    pruning = Pruning(options.what, options.share)
    known = config_values(options.model).get("minibert_task")
    task = task_named(known) if known else Predictor.from_directory(options.model).task
    train, dev = (read_task_data(options, task, path) for path in (options.train, options.dev))
    settings = FinetuneSettings(
        epochs=options.epochs,
        batch_size=options.batch_size,
        seed=options.seed,
        group_by_length=True,
        optimization=Optimization(learning_rate=options.learning_rate),
    )
    print_events(options, run(options.model, pruning, train, dev, settings, out=options.out))
