"""Relatives pre-trained on the same stories of the toy world, then fine-tuned on pronouns or evaluated as they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from minibert import checkpoint
from minibert.experiments.events import Stage, collected, losses, steps_of, within
from minibert.experiments.relative_catalogue import RelativeArm, RelativeExperiment, RelativeScale
from minibert.experiments.runner import Run
from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.inside.geometry.vectors import sentence_vectors
from minibert.inside.predictions.pair_questions import judged
from minibert.objectives import Masking
from minibert.pretrain import PretrainSettings
from minibert.toy import world
from minibert.toy.collocations import checkpoint_metrics
from minibert.toy.pretrain import PAIRS, TOY, pretrain_toy
from minibert.toy.pronoun_task import who_is_meant
from minibert.train import Done, Eval, Event, Optimization, Started, Step

SPANS = ("determined", "span", "span_whole", "span_boundary", "corrected")
JUDGED = 300  # held-out stories whose pairs are judged
PRETRAINING_SHARE = 0.8  # of an arm's progress


def at_scale(settings: Any, scale: Any, options: Mapping, seed: int, *, evaluations: int, **more: Any) -> Any:
    """The settings of a training on stories, at the scale's size and rate, with an arm's options."""
    return replace(
        settings,
        **options,
        **more,
        steps=scale.steps,
        batch_size=scale.batch_size,
        stories=scale.stories,
        evaluate_every=max(1, scale.steps // evaluations),
        seed=seed,
        optimization=replace(settings.optimization, learning_rate=scale.learning_rate),
    )


def on_stories(experiment: RelativeExperiment, tasks: Path | None, folder: Path, *, measure: Callable) -> Run:
    """measure(model, arm, settings, scale, measured): yields the Steps of further training and returns the metrics of
    the model in the folder `model`; measured: those of the end of pre-training."""
    scale = experiment.scale
    more = {"stories": scale.stories, "lengths": getattr(scale, "lengths", ()), "spans": experiment.spans}

    def run(name: str, seed: int) -> Generator[Event, None, dict]:
        arm, before, events = experiment.arms[name], time.process_time(), list[Event]()
        settings = settings_of(arm, scale, seed, experiment.pairs)
        with TemporaryDirectory(dir=folder) as scratch:
            model = Path(scratch) / "model"
            pretraining = collected(pretrain_toy(settings, model, seed=seed, **more), events)
            pretrained = yield from within(steps_of(pretraining), 0.0, PRETRAINING_SHARE)
            seconds = time.process_time() - before
            yield Stage(name, seed, "measuring", PRETRAINING_SHARE)
            measured = [event.metrics for event in events if isinstance(event, Eval)][-1]
            metrics = yield from within(measure(model, arm, settings, scale, measured), PRETRAINING_SHARE, 1.0)
            if experiment.spans:
                metrics |= {name: measured[name] for name in SPANS if name in measured}
            if experiment.pairs:
                metrics |= about_pairs(model)
            kind = checkpoint.config_values(model)["architectures"][0]
        started = next(event for event in events if isinstance(event, Started))
        yield started
        yield Eval(pretrained.step, metrics)
        yield pretrained
        return {
            "kept": kind,
            "curve": losses(events),
            "seconds": round(seconds, 1),  # CPU time of pre-training
            "finetuning_seconds": round(time.process_time() - before - seconds, 1),
            "data": started.details["data"],
        }

    return run


def settings_of(arm: RelativeArm, scale, seed: int, pairs: bool = False) -> PretrainSettings:
    """The settings of the page's toy run, with steps and masking of the scale; pairs: rows are pairs of segments."""
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


def pronouns(model: Path, arm, settings, scale, measured) -> Generator[Step, None, dict[str, float]]:
    """F1 of a copy fine-tuned on pronouns, and, if the arm reads [MASK], how often it prefers determined words."""
    tuned = yield from who_is_meant_by(model, scale, settings.seed)
    reads_mask = arm.options.get("variant", "electra") not in ("replace_mlm", "all_tokens_mlm")
    return {"who_is_meant": tuned.metrics["f1"]} | ({"chosen": measured["chosen"]} if reads_mask else {})


def who_is_meant_by(model: Path, scale: RelativeScale, seed: int) -> Generator[Step, None, Done]:
    """Fine-tune a copy of `model` on pronouns; yields its Steps, → its Done."""
    tuning = FinetuneSettings(
        epochs=scale.epochs,
        batch_size=16,
        max_length=TOY.max_length,
        seed=seed,
        evaluations_per_epoch=1,
        optimization=Optimization(learning_rate=scale.finetune_rate),
    )
    train, test = who_is_meant(scale.train, 11), who_is_meant(scale.test, 12)
    return (yield from steps_of(finetune(model, "tagging", train, test, tuning)))


def longer_rows(model: Path, arm, settings, scale, measured) -> Generator[Step, None, dict[str, float]]:
    """Accuracy at the end of rows of each length."""
    yield from ()  # nothing is trained
    return {name: measured[name] for name in (f"right_{length}" for length in scale.lengths)}


def going_together(model: Path, arm, settings, scale, measured) -> Generator[Step, None, dict[str, float]]:
    """On words that go together, all of them hidden."""
    yield from ()  # nothing is trained
    return checkpoint_metrics(model, scale) | {"chosen": measured["chosen"]}


def about_pairs(folder: Path) -> dict[str, float]:
    """The model's results on next-sentence and order questions, and the CPU milliseconds it takes to read a story."""
    model, tokenizer = checkpoint.load(folder), checkpoint.load_tokenizer(folder)
    stories = world.stories(JUDGED, 3_000_017, "small")
    answers = judged(model, tokenizer, [[sentence.text for sentence in story.sentences] for story in stories])
    texts, before = [story.text for story in stories], time.process_time()
    sentence_vectors(model, tokenizer, texts, ["cls"])
    return {**answers, "milliseconds": 1_000 * (time.process_time() - before) / len(texts)}
