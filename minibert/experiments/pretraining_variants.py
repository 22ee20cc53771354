"""Claims about pre-training, on the toy world: LAMB's batches, ERNIE 2.0's order of tasks, Transformer-XL's memory.

Each function trains an arm of a scale with its options, fields of the training's settings."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace

from minibert.experiments.events import collected
from minibert.experiments.relative_catalogue import BatchScale, ContinualScale, MemoryScale
from minibert.folders import ROOT
from minibert.toy.continual import ContinualSettings, train_continually
from minibert.toy.large_batches import BatchSettings, train_in_batches
from minibert.toy.segments import SegmentSettings, train_on_segments
from minibert.train import Eval, Event


def batch_sizes(scale: BatchScale, options: Mapping, seed: int) -> Generator[Event, None, dict]:
    """The same rows in larger and larger batches, the rate scaled by the paper's rule."""
    settings, events = BatchSettings(**options, rows_read=scale.rows_read, stories=scale.stories, seed=seed), []
    yield from collected(train_in_batches(settings), events)
    marks = [event for event in events if isinstance(event, Eval)]
    return {
        "pretraining": {**options, "rate": settings.optimization.learning_rate},
        "curve": [[event.step * settings.rows, event.metrics] for event in marks],
        "ratios": marks[-1].details["ratios"],
    }


def task_orders(scale: ContinualScale, options: Mapping, seed: int) -> Generator[Event, None, dict]:
    """Every regime gives every task the same batches in another order, and is evaluated on all tasks."""
    usual = ContinualSettings()
    settings = replace(
        usual,
        **options,
        steps=scale.steps,
        batch_size=scale.batch_size,
        stories=scale.stories,
        asked=scale.asked,
        evaluate_every=scale.steps // 8,
        seed=seed,
        optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
    )
    yield from train_continually(settings)
    return {"pretraining": {"plan": settings.plan}}


def memory(scale: MemoryScale, options: Mapping, seed: int) -> Iterator[Event]:
    """Stories in rows, each row read with the previous one in memory, or alone."""
    usual = SegmentSettings()
    settings = replace(
        usual,
        **options,
        steps=scale.steps,
        batch_size=scale.batch_size,
        share=scale.masked,
        stories=scale.stories,
        held_out=scale.test,
        evaluate_every=max(1, scale.steps // 4),
        seed=seed,
        optimization=replace(usual.optimization, learning_rate=scale.learning_rate),
    )
    return train_on_segments(settings, ROOT / scale.begins_with)
