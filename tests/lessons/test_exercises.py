"""Every exercise notebook: nbgrader's format, full points for our solution, none for an empty one, and the answers
beside it judged as they should be."""

import ast
from collections import Counter

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from tests.lessons.exercises import NO_ANSWER, SETUP, Exercise, code_cells, exercises, graded, mark, points, run

SOLUTION, HIDDEN = ("### BEGIN SOLUTION", "### END SOLUTION"), ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")


@pytest.fixture(params=exercises(), ids=lambda folder: folder.name)
def exercise(request):
    return Exercise(request.param)


def between(code: str, marks: tuple[str, str]) -> str:
    """What stands between the two marks, each of which is there once."""
    before, after = marks
    assert code.count(before) == code.count(after) == 1, f"{before} … {after} once each:\n{code}"
    return code.split(before)[1].split(after)[0]


def ends_with_a_value(code: str) -> bool:
    last = ast.parse(code).body[-1]
    called = getattr(getattr(last, "value", None), "func", None)
    return isinstance(last, ast.Expr) and not getattr(called, "id", "").startswith("expect")


def test_it_is_a_notebook_as_nbgrader_reads_them(exercise):
    notebook = exercise.notebook
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[0].cell_type == "markdown" and notebook.cells[0].source.startswith("# ")
    for cell in code_cells(notebook):
        assert not cell.outputs and cell.execution_count is None, f"{cell.id} has output"


def test_it_begins_by_finding_the_project(exercise):
    first = code_cells(exercise.notebook)[0]
    assert first.source == SETUP
    assert (mark(first)["locked"], mark(first)["grade"], mark(first)["solution"]) == (True, False, False)


def test_every_task_is_a_solution_and_its_test(exercise):
    cells = {mark(cell)["grade_id"]: cell for cell in code_cells(exercise.notebook) if mark(cell).get("grade_id")}
    order = list(cells)
    tests = [name for name, cell in cells.items() if mark(cell)["grade"]]
    assert 3 <= len(tests) <= 6
    for name in tests:
        task = name.removesuffix("-test")
        assert name.endswith("-test") and order.index(task) + 1 == order.index(name), f"{name} follows its solution"
        assert mark(cells[task])["solution"] and not mark(cells[task])["grade"] and not mark(cells[task])["locked"]
        assert mark(cells[name])["locked"] and not mark(cells[name])["solution"]
        assert 1 <= mark(cells[name])["points"] <= 4
        assert between(cells[task].source, SOLUTION).strip()
        assert between(cells[name].source, HIDDEN).strip()
        assert "expect" in cells[name].source.split(HIDDEN[0])[0], f"{name} tests nothing that the student sees"
        assert not ends_with_a_value(cells[name].source), f"{name}: nbgrader would take its value for its points"
    assert [name for name, cell in cells.items() if mark(cell)["solution"]] == [t.removesuffix("-test") for t in tests]


def test_answers_of_both_kinds_stand_beside_each_task(exercise):
    tasks = {mark(cell)["grade_id"].removesuffix("-test") for cell in graded(exercise.notebook)}
    count = Counter((answer.cell, answer.right) for answer in exercise.answers)
    assert set(count) == {(task, right) for task in tasks for right in (True, False)}
    assert min(count.values()) >= 3, count
    named = Counter((answer.cell, answer.what) for answer in exercise.answers)
    assert max(named.values()) == 1, named.most_common(1)
    assert len({answer.code.strip() for answer in exercise.answers}) == len(exercise.answers)


def test_the_student_version_holds_no_answer(exercise):
    text = "\n".join(cell.source for cell in exercise.student_version().cells)
    for cell in exercise.notebook.cells:
        if mark(cell).get("solution"):
            assert between(cell.source, SOLUTION).strip() not in text
        if mark(cell).get("grade"):
            assert between(cell.source, HIDDEN).strip() not in text
    assert "BEGIN" not in text


@pytest.mark.release
@pytest.mark.notebooks
def test_it_runs_and_every_answer_gets_the_points_it_deserves(exercise):
    """Ours all of them, an empty one none, wrong ones fail and right ones pass."""
    solve(exercise)
    leave_empty(exercise)


def solve(exercise) -> None:
    """Ours, and in the place of each cell the answers beside it."""
    tried = run(exercise.notebook, exercise.folder, exercise.answers)
    assert not tried.errors
    assert points(exercise.notebook, tried.errors) == sum(mark(cell)["points"] for cell in graded(exercise.notebook))
    assert tried.figures
    assert len(tried.outcomes) == len(exercise.answers)
    for outcome in tried.outcomes:
        assert outcome.written is None, f"does not run: {outcome}"
        assert outcome.answer.right == (outcome.tested is None), outcome
        assert not isinstance(outcome.tested, NO_ANSWER), f"fails for another reason: {outcome}"


def leave_empty(exercise) -> None:
    released = exercise.student_version()
    errors = run(released, exercise.folder).errors
    for cell in code_cells(released):
        if mark(cell).get("grade"):
            assert cell.id in errors, f"{mark(cell)['grade_id']} gives points for nothing"
        elif not mark(cell).get("solution"):
            assert cell.id not in errors, f"{cell.source}\n{errors[cell.id]!r}"
