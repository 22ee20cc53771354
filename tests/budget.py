"""What a test of the default run may cost: over ten processor seconds it is named, over twenty it fails.

Counted are the pytest process and the children it has waited for, from the first fixture to the end of the test. What
outlives the test (the browser, a server of the whole session) is not counted.
"""

import os

import pytest

NAMED, FAILS = 10, 20
_begun = pytest.StashKey[float]()


def spent() -> float:
    """Processor seconds of this process and of its ended children."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[_begun] = spent()


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
