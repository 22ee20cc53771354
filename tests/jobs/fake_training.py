"""Generators that behave like training, for workers to import."""

import errno
import os
import signal
import sys
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


def stays(seconds):
    """Says who it is, and gives no event for long: it does not notice that it is cancelled, and may be killed."""
    yield Event("step", 1, heard=[os.getpid()])
    time.sleep(seconds)
    yield Event("step", 2)


def fails():
    yield Event("step", 1)
    raise ValueError("the labels make no sense")


def exits():
    yield Event("step", 1)
    raise SystemExit(3)


def dies(mailbox):
    """As soon as it is told that its event has arrived."""
    yield Event("step", 1)
    while not mailbox():
        time.sleep(0.01)
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


def goes_on(steps, out, resume_from=None):
    """Saves a state every tenth step, and goes on from the last."""
    step = int(Path(resume_from, "resume", "step").read_text()) if resume_from else 0
    while step < steps:
        time.sleep(0.02)
        step += 1
        yield Event("step", step, heard=[os.getpid()])
        if step % 10 == 0:
            Path(out, "resume").mkdir(parents=True, exist_ok=True)
            Path(out, "resume", "step").write_text(str(step))
            yield Event("saved", step, path=str(out))


def saves_on_a_full_disk(out):
    from minibert.training import disk_retry as patience

    patience.SECONDS, tries = 0.05, iter(range(3))

    def save():
        if next(tries, None) is not None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        Path(out).mkdir()
        Path(out, "weights").write_bytes(b"w")

    patience.save_with_retry(save)
    yield Event("step", 1)


def listens(mailbox):
    heard = []
    while "stop" not in heard:
        time.sleep(0.01)
        heard += mailbox()
        yield Event("step", heard=heard)


def whoami():
    yield Event("step", heard=[getattr(sys.modules["__main__"], "__file__", None), sorted(sys.modules)])


def not_a_generator():
    return 1
