"""A short fine-tuning of the small checkpoint, and what its events say."""

from minibert.finetune.run import finetune
from minibert.finetune.settings import FinetuneSettings
from minibert.train import Optimization
from tests.minibert.tasks.toys import toy

FAST = Optimization(learning_rate=5e-3)


def short(**changes) -> FinetuneSettings:
    return FinetuneSettings(**{"epochs": 1, "batch_size": 16, "max_length": 24, "optimization": FAST, **changes})


def run(start, task="classification", out=None, data=None, probe_inputs=(), **changes) -> list:
    train, dev = data or (toy(task, 64, 0), toy(task, 16, 1))
    return list(finetune(start, task, train, dev, short(**changes), out=out, probe_inputs=probe_inputs))


def of(events, kind) -> list:
    return [event for event in events if isinstance(event, kind)]
