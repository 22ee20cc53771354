"""Little to learn, and little of it."""

from minibert.finetune.settings import FinetuneSettings
from minibert.train import Optimization
from tests.minibert.tasks.toys import toy

SETTINGS = FinetuneSettings(epochs=1, batch_size=8, optimization=Optimization(learning_rate=3e-3), dropout=0.0)


def toys(train: int, dev: int, task: str = "classification"):
    """So many examples to learn from, and others to be asked."""
    return toy(task, train, 0), toy(task, dev, 1)
