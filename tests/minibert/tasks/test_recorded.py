"""Examples survive a run's events."""

import json
from dataclasses import asdict

import pytest

from minibert.tasks import TASKS
from tests.minibert.tasks.test_input_rows import DATA, SETS


@pytest.mark.parametrize("name", list(TASKS))
def test_an_example_comes_back_from_json(name):
    task = TASKS[name]
    for example in task.read(DATA / SETS[name]).examples[:40]:
        assert task.restored(asdict(example)) == example
        assert task.restored(json.loads(json.dumps(asdict(example)))) == example


def test_an_input_without_an_answer_comes_back():
    example = TASKS["tagging"].example("Anna is in Oslo")
    assert TASKS["tagging"].restored(json.loads(json.dumps(asdict(example)))) == example
