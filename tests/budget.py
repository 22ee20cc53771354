"""What a test of the default run may cost: over ten processor seconds it is named, over twenty it fails.

Counted are the pytest process and the children it has waited for, from the first fixture to the end of the test. What
outlives the test (the browser, a server of the whole session) is not counted. A test that hangs ends the run, which
says where it stood.
"""

import faulthandler
import math
import os
import time

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key as STDERR

NAMED, FAILS = 10, 20
HANGS = 900  # seconds
_begun, _armed = pytest.StashKey[float](), pytest.StashKey[float]()


def spent() -> float:
    """Processor seconds of this process and of its ended children."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[_begun] = spent()
    # pytest's own faulthandler_timeout starts a thread for every test, 10 ms each: here one a minute.
    if time.monotonic() - item.config.stash.get(_armed, -math.inf) > 60:
        item.config.stash[_armed] = time.monotonic()
        faulthandler.dump_traceback_later(HANGS, exit=True, file=item.config.stash[STDERR])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call" and not item.get_closest_marker("release"):
        seconds = spent() - item.stash[_begun]
        report.user_properties.append(("processor seconds", seconds))
        if seconds > FAILS and report.passed:
            report.outcome = "failed"
            report.longrepr = f"{seconds:.0f} processor seconds; a test of the default run has {FAILS}: tests/budget.py"
    return report


def pytest_terminal_summary(terminalreporter):
    calls = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    costs = {report.nodeid: dict(report.user_properties).get("processor seconds", 0) for report in calls}
    for name, seconds in sorted(costs.items(), key=lambda one: -one[1]):
        if seconds > NAMED:
            terminalreporter.write_line(f"{seconds:.0f} processor seconds: {name}")
