"""Generators that behave like training, for workers to import."""

import os
import signal
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Event:
    event: str
    step: int = 0
    progress: float = 0.0
    path: str | None = None
    heard: list = field(default_factory=list)

    def as_dict(self):
        return asdict(self)


def count(steps, pause=0.0):
    for step in range(steps):
        time.sleep(pause)
        yield Event("step", step, progress=(step + 1) / steps)


def until_cancelled(out):
    """Saves what it has when it is closed, as training does."""
    step = 0
    try:
        while True:
            time.sleep(0.01)
            step += 1
            yield Event("step", step)
    finally:
        Path(out).mkdir()
        Path(out, "steps.txt").write_text("learnt something", encoding="utf-8")


def deaf(seconds):
    """Gives no event, so it does not notice that it is cancelled."""
    yield Event("step")
    time.sleep(seconds)
    yield Event("step")


def fails():
    yield Event("step", 1)
    raise ValueError("the labels make no sense")


def exits():
    yield Event("step", 1)
    raise SystemExit(3)


def dies():
    yield Event("step", 1)
    time.sleep(0.2)  # the event is on its way
    os.kill(os.getpid(), signal.SIGKILL)


def saves(out, start=None):
    """Two files; copies what was uploaded."""
    folder = Path(out, "checkpoint")
    (folder / "deep").mkdir(parents=True)
    (folder / "weights").write_bytes(bytes(range(256)))
    (folder / "deep" / "vocab.txt").write_text("[PAD]\n", encoding="utf-8")
    if start is not None:
        (folder / "start.txt").write_bytes(Path(start, "config.json").read_bytes())
    yield Event("saved", path=str(folder))


def listens(mailbox):
    heard = []
    while "stop" not in heard:
        time.sleep(0.01)
        heard += mailbox()
        yield Event("step", heard=heard)


def whoami():
    import sys

    main = sys.modules["__main__"]
    yield Event("step", heard=[os.getpid(), getattr(main, "__file__", None), sorted(sys.modules)])


def not_a_generator():
    return 1
