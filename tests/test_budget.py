"""The budget of the default run: what is too dear is named and fails, in the release run it is not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONFTEST = """
from tests import budget
from tests.budget import pytest_runtest_makereport, pytest_runtest_setup, pytest_terminal_summary
budget.NAMED = budget.FAILS = 0.2
"""
TESTS = """
import time, pytest
def work():
    until = time.process_time() + 0.3
    while time.process_time() < until: pass
def test_quick(): pass
def test_dear(): work()
@pytest.fixture
def made(): work()
def test_with_a_dear_fixture(made): pass
@pytest.mark.release
def test_before_a_release(): work()
"""


def run(folder, conftest, tests):
    (folder / "conftest.py").write_text(conftest)
    (folder / "test_some.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = release\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder]
    return subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )


def test_what_is_too_dear_fails_and_is_named(tmp_path):
    told = run(tmp_path, CONFTEST, TESTS)
    named = re.findall(r"^\d+ processor seconds: test_some.py::(\w+)", told.stdout, re.M)
    assert sorted(named) == ["test_dear", "test_with_a_dear_fixture"], told.stdout
    assert "2 failed, 2 passed" in told.stdout


@pytest.mark.release
def test_what_hangs_ends_the_run_and_says_where(tmp_path):
    hangs = "import time\ndef test_quick(): pass\ndef test_hangs(): time.sleep(3600)\n"
    told = run(tmp_path, CONFTEST + "budget.HANGS = 2\n", hangs)
    assert told.returncode == 1 and "in test_hangs" in told.stderr
