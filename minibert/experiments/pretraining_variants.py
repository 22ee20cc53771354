"""Claims about pre-training, on the toy world: LAMB's batches, ERNIE 2.0's order of tasks, Transformer-XL's memory.

Each function trains an arm of a scale with its options, fields of the training's settings."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping

from minibert.experiments.events import collected
from minibert.experiments.relative_catalogue import BatchScale, ContinualScale, MemoryScale
from minibert.experiments.toy_stories import at_scale
from minibert.folders import ROOT
from minibert.toy.continual import ContinualSettings, train_continually
from minibert.toy.large_batches import BatchSettings, train_in_batches
from minibert.toy.segments import SegmentSettings, train_on_segments
from minibert.train import Eval, Event


def batch_sizes(scale: BatchScale, options: Mapping, seed: int) -> Generator[Event, None, dict]:
    """The same rows in larger and larger batches, the rate scaled by the paper's rule."""
    settings = BatchSettings(**options, rows_read=scale.rows_read, stories=scale.stories, seed=seed)
    events: list[Event] = []
    yield from collected(train_in_batches(settings), events)
    marks = [event for event in events if isinstance(event, Eval)]
    return {
        "pretraining": {**options, "rate": settings.optimization.learning_rate},
        "curve": [[event.step * settings.rows, event.metrics] for event in marks],
        "ratios": marks[-1].details["ratios"],
    }


def task_orders(scale: ContinualScale, options: Mapping, seed: int) -> Generator[Event, None, dict]:
    """Every regime gives every task the same batches in another order, and is evaluated on all tasks."""
    settings = at_scale(ContinualSettings(), scale, options, seed, evaluations=8, asked=scale.asked)
    yield from train_continually(settings)
    return {"pretraining": {"plan": settings.plan}}


def memory(scale: MemoryScale, options: Mapping, seed: int) -> Iterator[Event]:
    """Stories in rows, each row read with the previous one in memory, or alone."""
    more = {"share": scale.masked, "held_out": scale.test}
    settings = at_scale(SegmentSettings(), scale, options, seed, evaluations=4, **more)
    return train_on_segments(settings, ROOT / scale.begins_with)
