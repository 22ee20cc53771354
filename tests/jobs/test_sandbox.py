"""A function in a process of its own: what it returns and raises comes back, what it took does not stay."""

import os
import pickle

import psutil
import pytest

from jobs import sandbox
from jobs.sandbox import SandboxError, run_sandboxed
from minibert.tasks import MOST_PROBLEMS, TaskDataError

FAKE = "tests.jobs.test_sandbox"


def pid_and(value):
    return os.getpid(), value


def refuses():
    raise TaskDataError("line 3: no label")


def returns_what_cannot_be_sent():
    return lambda: None


def raises_what_cannot_be_sent():
    raise ValueError("no label", lambda: None)


def takes(n):
    return len(bytearray(n))


def hangs():
    import time

    time.sleep(600)


def turns():
    while True:
        pass


def prints():
    print("to nobody")
    return "answer"


def test_it_is_another_process_and_an_answer_comes_back():
    pid, value = run_sandboxed(f"{FAKE}:pid_and", {"a": [1, 2]})
    assert value == {"a": [1, 2]} and pid != os.getpid() and not psutil.pid_exists(pid)
    assert run_sandboxed(f"{FAKE}:prints") == "answer"


def test_what_it_raises_is_raised_here():
    with pytest.raises(TaskDataError, match="line 3: no label"):
        run_sandboxed(f"{FAKE}:refuses")


def test_what_cannot_be_sent_is_named():
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        run_sandboxed(f"{FAKE}:returns_what_cannot_be_sent")
    with pytest.raises(SandboxError, match="no label"):
        run_sandboxed(f"{FAKE}:raises_what_cannot_be_sent")


def test_memory_and_time_are_bounded(monkeypatch):
    others = psutil.Process().children()  # a browser of other tests
    with pytest.raises(SandboxError, match="3 GB of memory"):
        run_sandboxed(f"{FAKE}:takes", 4 << 30)
    monkeypatch.setattr(sandbox, "PATIENCE", 0.5)
    with pytest.raises(SandboxError, match=r"more than 0\.5 seconds"):
        run_sandboxed(f"{FAKE}:hangs")
    monkeypatch.undo()
    monkeypatch.setattr(sandbox, "MOST_SECONDS", 1)
    with pytest.raises(SandboxError, match="more than 1 seconds"):
        run_sandboxed(f"{FAKE}:turns")
    assert psutil.Process().children() == others


def test_a_large_table_comes_back_as_a_sample_with_every_label(tmp_path):
    path = tmp_path / "large.tsv"
    rows = [f"{'yes' if i % 2 else 'no'}\ttext number {i}" for i in range(5_000)]
    rows[4_000] = "rare\tthe only one"
    rows[100:100] = ["lonely"] * (MOST_PROBLEMS + 50)
    path.write_text("\n".join(["label\ttext", *rows]) + "\n", encoding="utf-8")
    data, whole = run_sandboxed("minibert.tasks:read_sample", path, "mine.tsv", "classification", "header", most=1_000)
    assert whole == 5_000 and len(data.examples) == 1_000 and data.name == "mine.tsv"
    assert set(data.counts) == {"yes", "no", "rare"} and abs(data.counts["yes"] - data.counts["no"]) < 20
    assert len(data.problems) == MOST_PROBLEMS + 1 and "50 more places" in data.problems[-1].why
