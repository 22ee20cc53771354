"""Computations that everyone shares: found whoever began them, apart from trainings, failures told to their own."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.hostile import HOSTILE
from tests.ui.driver import opened
from ui import computations
from ui.computations import fingerprint, running_or_done, show_failure


def run_of(owner: str, state: str, name: str = "x", error: str | None = None):
    over = state in ("finished", "failed", "cancelled", "lost")
    return SimpleNamespace(owner=owner, state=state, over=over, kind=f"computed/{name}", error=error)


@pytest.fixture
def runs(monkeypatch):
    """The server's runs, the newest first, for a reader called "me"; and what is submitted."""
    everything = SimpleNamespace(all=[], sent=[])
    monkeypatch.setattr(computations, "manager", lambda: SimpleNamespace(runs=lambda: everything.all))
    monkeypatch.setattr(computations, "owner", lambda: "me")
    monkeypatch.setattr(computations, "submit", lambda *args, **kwargs: everything.sent.append((args, kwargs)))
    return everything


def test_a_fingerprint_tells_what_differs():
    points = np.arange(4.0).tobytes()
    prints = {fingerprint(*parts) for parts in (("a", "b"), ("ab",), ("a", 1), ("a", points))}
    assert len(prints) == 4 and fingerprint("a", points) in prints and all(one.isalnum() for one in prints)


def test_it_is_found_whoever_began_it(runs):
    runs.all = [run_of("me-computed", "failed"), run_of("you-computed", "finished"), run_of("you-computed", "lost")]
    assert running_or_done("x") is runs.all[1]
    assert running_or_done("y") is None
    for state, found in (("running", True), ("cancelled", False)):
        runs.all = [run_of("you-computed", state)]
        assert running_or_done("x") is (runs.all[0] if found else None)


def test_it_does_not_count_among_the_readers_trainings_and_what_someone_has_begun_is_not_begun_again(runs):
    computations.compute("x", "module:target", 1, title="t")
    assert runs.sent == [(("module:target", 1), {"title": "t", "kind": "computed/x", "owner": "me-computed"})]
    runs.all = [run_of("you-computed", "running")]
    assert computations.compute("x", "module:target", 1, title="t") is runs.all[0]
    assert len(runs.sent) == 1


def test_only_a_failure_of_ones_own_is_told_and_as_text(runs):
    runs.all = [run_of("me-computed", "failed", error=HOSTILE["script"])]
    (box,) = opened(show_failure, "x").error
    assert "onerror" in box.value and "<img" not in box.value
    for others in (
        [run_of("you-computed", "failed", error="no")],
        [run_of("me-computed", "cancelled")],
        [run_of("you-computed", "finished"), run_of("me-computed", "failed", error="no")],
    ):
        runs.all = others
        assert not opened(show_failure, "x").error
