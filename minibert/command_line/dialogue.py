"""train-diet: intents and entities without fine-tuning BERT."""

from __future__ import annotations

from pathlib import Path

from minibert.command_line.arguments import SHIPPED, add_command, model_directory, positive
from minibert.command_line.printing import print_events, print_result
from minibert.folders import input_path

FEATURES = ("both", "sparse", "dense")


def add_commands(commands) -> None:
    sub = add_command(
        commands,
        "train-diet",
        train_diet,
        "Learn intents and entities with DIET; predict, evaluate and serve take what it saves.",
    )
    sub.add_argument("--train", required=True, type=input_path, help="Rasa's markdown, as the task intent reads it")
    sub.add_argument("--dev", type=input_path, help="the same, to measure on")
    sub.add_argument("--out", required=True, type=Path, help="directory")
    sub.add_argument("--features", choices=FEATURES, default="both", help="default: both")
    sub.add_argument("--model", type=model_directory, default=SHIPPED, help="the frozen encoder of the dense features")
    sub.add_argument("--no-mask-loss", action="store_true", help="do not guess hidden words beside")
    sub.add_argument("--epochs", type=positive(int), default=20)
    sub.add_argument("--batch-first", type=positive(int), default=64, help="requests a batch at first (default: 64)")
    sub.add_argument("--batch-last", type=positive(int), default=256, help="and in the last epoch (default: 256)")
    sub.add_argument("--learning-rate", type=positive(float), default=1e-3)
    sub.add_argument("--width", type=positive(int), default=256, help="of the transformer (default: 256)")
    sub.add_argument("--seed", type=int, default=0)
    sub.add_argument("--threads", type=positive(int), help="processor threads")


def train_diet(options) -> None:
    from dataclasses import replace

    from minibert.diet.run import DietSettings, adam_optimization
    from minibert.diet.run import train_diet as run
    from minibert.tasks import TASKS

    settings = DietSettings(
        features=options.features,
        mask_loss=not options.no_mask_loss,
        epochs=options.epochs,
        batch_first=options.batch_first,
        batch_last=options.batch_last,
        sizes={"width": options.width},
        optimization=replace(adam_optimization(), learning_rate=options.learning_rate),
        seed=options.seed,
    )
    train = TASKS["intent"].read(options.train)
    dev = TASKS["intent"].read(options.dev) if options.dev else None
    done = print_events(options, run(settings, options.model, train, dev, out=options.out))
    print_result(options, done["metrics"], "  ".join(f"{name} {value:.4f}" for name, value in done["metrics"].items()))
