"""What holds for all tests: no clock for random examples, no threads that fight for a core."""

import functools
import os
import sys
import tempfile

import pytest
from hypothesis import settings

import examination  # noqa: F401  (before a page run by AppTest puts pages/, with a file of that name, first on the path)
from tests.budget import pytest_runtest_makereport, pytest_runtest_setup, pytest_terminal_summary  # noqa: F401

# Before torch is loaded: threads that wait sleep. Two processes that spin on the same cores take minutes for seconds.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if "PYTEST_XDIST_WORKER" in os.environ:  # the workers share the cores out already
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# What a page keeps for the room is the test's own, not the repository's.
os.environ.setdefault("MINIBERT_RUNS", os.path.join(tempfile.mkdtemp(prefix="minibert-tests-"), "runs"))


def pytest_configure(config):
    """A slow machine is not wrong: how long something takes is measured in bench, not by a deadline of a random
    example. The default run draws the same examples every time, so that a change is judged by what it changes; the
    release run draws new ones."""
    settings.register_profile("minibert", deadline=None, derandomize=bool(config.option.markexpr))
    settings.load_profile("minibert")


@pytest.fixture(scope="session", autouse=True)
def packages_read_once():
    """AppTest searches every installed package for components whenever a page is opened, which takes longer than the
    page itself. No test installs one."""
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        scan = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(autouse=True)
def threads_as_before():
    """A command that is run here may set torch's threads (--threads). Another number of them adds up in another order,
    in the last digit, and only in the thread that set it."""
    before = sys.modules["torch"].get_num_threads() if "torch" in sys.modules else None
    yield
    if before is not None and sys.modules["torch"].get_num_threads() != before:
        sys.modules["torch"].set_num_threads(before)


MAIN = sys.modules["__main__"]


@pytest.fixture(autouse=True)
def main_as_before():
    """AppTest leaves the page it ran behind as `__main__`, and a process that is spawned later would run that page."""
    sys.modules["__main__"] = MAIN  # a fixture of a whole file may have run a page before the test
    yield
    sys.modules["__main__"] = MAIN
