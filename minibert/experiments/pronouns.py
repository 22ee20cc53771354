"""A run on the toy world at an experiment's scale, and how well its model then resolves pronouns."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

from minibert.experiments.events import steps_of
from minibert.experiments.relative_catalogue import RelativeArm, RelativeScale
from minibert.train import Done, Optimization, Step


def settings_of(arm: RelativeArm, scale: RelativeScale, seed: int, pairs: bool = False):
    """The settings of the page's toy run, with steps and masking of the scale; pairs: rows are pairs of segments."""
    from minibert.objectives import Masking
    from minibert.toy.pretrain import PAIRS, TOY

    return replace(
        TOY,
        relative=arm.relative,
        objective_options=dict(arm.options),
        sizes=dict(arm.sizes),
        minutes=None,
        steps=scale.steps,
        start=arm.start,
        batch_size=scale.batch_size,
        max_length=getattr(scale, "max_length", TOY.max_length),
        masking=Masking(rate=scale.masked),
        optimization=replace(TOY.optimization, learning_rate=scale.learning_rate),
        seed=seed,
        report_every=20,
        measure_every=scale.steps,
        snapshots=(),
        **(PAIRS if pairs else {}),
    )


def who_is_meant_by(model: Path, settings, scale: RelativeScale) -> Generator[Step, None, Done]:
    """Fine-tune a copy of `model`, pre-trained with `settings`, on pronouns; yields its Steps, → its Done."""
    from minibert.finetune.run import finetune
    from minibert.finetune.settings import FinetuneSettings
    from minibert.toy.pronoun_task import who_is_meant

    tuning = FinetuneSettings(
        epochs=scale.epochs, batch_size=16, max_length=settings.max_length, seed=settings.seed,
        evaluations_per_epoch=1, optimization=Optimization(learning_rate=scale.finetune_rate),
    )  # fmt: skip
    train, test = who_is_meant(scale.train, 11), who_is_meant(scale.test, 12)
    return (yield from steps_of(finetune(model, "tagging", train, test, tuning)))
