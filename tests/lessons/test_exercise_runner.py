"""The checks of the exercise notebooks can fail: on a small notebook, each thing they look for is broken once."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path

import nbformat.v4 as v4
import plotly.io
import pytest

from tests.lessons import exercises
from tests.lessons import test_exercises as checks
from tests.lessons.exercises import SETUP, Exercise, run

SOLUTION = '''\
def {name}(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
'''
TEST = """\
from lessons.feedback import expect_equal
expect_equal({name}(2), 4, "{name}(2)")
### BEGIN HIDDEN TESTS
expect_equal({name}(3), 6, "{name}(3)")
### END HIDDEN TESTS
"""
DRAWING = """\
import plotly.graph_objects as go
from lessons.feedback import when_written
with when_written("a"):
    go.Figure(go.Bar(y=[a(1), a(2)])).show()
"""
ANSWERS = {
    "wrong": ("return x**2", "return x / 2", "2 * x"),
    "right": ("return x + x", "return x << 1", "return x * 2"),
}


def cell(code: str, name: str, **marks):
    note = {"grade_id": name, "schema_version": 3, "grade": False, "solution": False, "locked": False} | marks
    return v4.new_code_cell(code, metadata={"nbgrader": note})


class Draft:
    """A notebook of three tasks that passes every check, to be spoiled in one place."""

    def __init__(self, folder: Path):
        self.folder = folder
        cells = [v4.new_markdown_cell("# Doubling: exercise"), cell(SETUP, "setup", locked=True)]
        for name in "abc":
            cells += [
                v4.new_markdown_cell("Double it."),
                cell(SOLUTION.format(name=name), name, solution=True),
                cell(TEST.format(name=name), f"{name}-test", grade=True, locked=True, points=2),
            ]
        cells.append(v4.new_code_cell(DRAWING))
        self.notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "x"}})
        self.answers = {name: {"id": name} for name in "abc"}
        for name, table in self.answers.items():
            for kind, lines in ANSWERS.items():
                table[kind] = [{"what": line, "code": f"def {name}(x):\n    {line}"} for line in lines]

    def replace(self, old: str, new: str) -> None:
        """In the first cell that has it."""
        found = next(cell for cell in self.notebook.cells if old in cell.source)
        found.source = found.source.replace(old, new)

    def written(self) -> Exercise:
        (self.folder / "exercise.ipynb").write_text(json.dumps(self.notebook), "utf-8")
        # But for the sign, TOML's inline tables are JSON's.
        inline = json.dumps(list(self.answers.values()), separators=(", ", " = "))
        (self.folder / "exercise.toml").write_text(f"cell = {inline}", "utf-8")
        return Exercise(self.folder)


@pytest.fixture
def draft(tmp_path):
    for folder in ("minibert", "lesson"):
        (tmp_path / folder).mkdir()
    (tmp_path / "minibert" / "model.py").touch()
    return Draft(tmp_path / "lesson")


STATIC = (
    checks.test_it_is_a_notebook_as_nbgrader_reads_them,
    checks.test_it_begins_by_finding_the_project,
    checks.test_every_task_is_a_solution_and_its_test,
    checks.test_answers_of_both_kinds_stand_beside_each_task,
    checks.test_the_student_version_holds_no_answer,
)


@pytest.mark.parametrize("check", [*STATIC, checks.solve, checks.leave_empty], ids=lambda check: check.__name__)
def test_a_good_notebook_passes(check, draft):
    check(draft.written())


FORM, BEGINNING, TASKS, BESIDE, STUDENTS = STATIC


@pytest.mark.parametrize(
    ("check", "old", "new"),
    [
        (checks.solve, "return 2 * x", "return 3 * x"),
        (checks.leave_empty, 'expect_equal(a(2), 4, "a(2)")', 'expect_equal(4, 4, "a(2)")'),
        (checks.leave_empty, 'with when_written("a"):', "if True:"),
        (STUDENTS, "Double it.", "Double it:\n    return 2 * x\n"),
        (BEGINNING, "import sys", "import sys, os"),
        (TASKS, "### BEGIN HIDDEN TESTS\n", ""),
        (TASKS, "    ### END SOLUTION\n", ""),
        (TASKS, 'expect_equal(a(3), 6, "a(3)")', ""),
        (TASKS, "### END HIDDEN TESTS\n", "### END HIDDEN TESTS\na(1)"),
    ],
)
def test_a_fault_of_the_notebook_is_found(draft, check, old, new):
    draft.replace(old, new)
    with pytest.raises(AssertionError):
        check(draft.written())


def test_output_and_too_few_answers_are_found(draft):
    draft.notebook.cells[1].execution_count = 1
    with pytest.raises(AssertionError, match="has output"):
        FORM(draft.written())
    draft.answers["b"]["right"].pop()
    with pytest.raises(AssertionError, match=r"\('b', True\): 2"):
        BESIDE(draft.written())


@pytest.mark.parametrize(
    ("kind", "code", "fair"),
    [
        pytest.param("wrong", "def a(x):\n    return 4", True, id="only hidden tests see it"),
        pytest.param("wrong", "def a(x):\n    while True: pass", True, id="it is stopped"),
        pytest.param("right", "b = c = None\ndef a(x):\n    return 2 * x", True, id="it is forgotten again"),
        pytest.param("wrong", "def a(x):\n    return x * 2.0", False, id="right"),
        pytest.param("right", "def a(x):\n    return 2 * x + 1", False, id="wrong"),
        pytest.param("wrong", "def a(x):\n    return twice(x)", False, id="a name that is not there"),
        pytest.param("wrong", "def a(x) return x", False, id="no Python"),
        pytest.param("wrong", "raise ValueError(1)", False, id="it does not run"),
    ],
)
def test_an_answer_is_judged_for_itself(draft, monkeypatch, kind, code, fair):
    monkeypatch.setattr(exercises, "ANSWER_SECONDS", 0.2)
    draft.answers["a"][kind].append({"what": "another", "code": code})
    with nullcontext() if fair else pytest.raises(AssertionError, match="another"):
        checks.solve(draft.written())


def test_where_it_ran_nothing_is_left(draft):
    before = list(sys.path), plotly.io.renderers.default, Path.cwd()
    figures = run(draft.written().notebook, draft.folder).figures
    assert (list(sys.path), plotly.io.renderers.default, Path.cwd()) == before
    assert [list(figure["data"][0]["y"]) for figure in figures] == [[2, 4]]
