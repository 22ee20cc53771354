"""Runs the exercise notebooks in this process: as they are, as students get them, and with other answers put in."""

from __future__ import annotations

import signal
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unittest import mock

import nbformat
import plotly.io
import torch
from nbformat import NotebookNode
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)

LESSONS = Path(__file__).resolve().parents[2] / "lessons"
SETUP = """\
import sys
from pathlib import Path

# The code is in a minibert folder above this notebook, or installed.
sys.path[:0] = [str(p) for p in [Path.cwd(), *Path.cwd().parents] if (p / "minibert" / "model.py").is_file()]
from minibert.folders import ROOT as home

sys.path.insert(0, str(home))
from plots.notebook import draw_here

draw_here()  # figures without a network, in JupyterLab and in VS Code"""
# What `nbgrader generate_assignment` does, but for its notes in a database.
RELEASING = (LockCells, ClearSolutions, ClearOutput, CheckCellMetadata, ClearHiddenTests, ClearMarkScheme)
ANSWER_SECONDS = 60
# A wrong answer that raises one of these is not wrong, it is not an answer.
NO_ANSWER = (SyntaxError, NameError, ImportError)


@dataclass(frozen=True)
class Answer:
    """Another solution cell: right, or wrong as students' are."""

    cell: str
    what: str
    code: str
    right: bool


@dataclass(frozen=True)
class Outcome:
    """What became of an answer: the error of its own cell, and that of its test cell."""

    answer: Answer
    written: Exception | None
    tested: Exception | None

    def __str__(self) -> str:
        return f"{self.answer.cell}, {self.answer.what}: {self.written or self.tested!r}"


class Exercise:
    """`lessons/<name>/exercise.ipynb` and the answers to try, from `exercise.toml` beside it."""

    def __init__(self, folder: Path):
        self.folder = folder

    @cached_property
    def notebook(self) -> NotebookNode:
        return nbformat.read(self.folder / "exercise.ipynb", as_version=nbformat.NO_CONVERT)

    @cached_property
    def answers(self) -> list[Answer]:
        tables = tomllib.loads((self.folder / "exercise.toml").read_text("utf-8"))["cell"]
        return [
            Answer(table["id"], answer["what"], answer["code"], kind == "right")
            for table in tables
            for kind in ("wrong", "right")
            for answer in table.get(kind, [])
        ]

    def student_version(self) -> NotebookNode:
        released = nbformat.from_dict(self.notebook)
        for step in (*RELEASING, ComputeChecksums):
            released, _ = step().preprocess(released, {})
        return released


def exercises() -> list[Path]:
    return sorted(path.parent for path in LESSONS.glob("*/exercise.ipynb"))


def mark(cell: NotebookNode) -> dict:
    """nbgrader's note on a cell, empty where it has none."""
    return cell.metadata.get("nbgrader", {})


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def graded(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if mark(cell).get("grade")]


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A TimeoutError inside the block once the time is up: wrong answers may loop for ever."""

    def stop(*_) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Session:
    """One namespace that cells run in, one after the other, as in a kernel."""

    def __init__(self):
        self.names = {"__name__": "__main__"}
        self.figures = []

    def run(self, code: str, name: str) -> Exception | None:
        """The error that the code ends with, if it does."""
        try:
            exec(compile(code, f"<{name}>", "exec"), self.names)
        except Exception as error:
            return error
        return None

    def attempt(self, answer: Answer, test: NotebookNode) -> Outcome:
        """Tries an answer and forgets it again: names are put back, what they name is not copied."""
        before = dict(self.names)
        with limited(ANSWER_SECONDS):
            written = self.run(answer.code, f"{answer.cell}: {answer.what}")
            tested = None if written else self.run(test.source, test.metadata.nbgrader.grade_id)
        self.names.clear()
        self.names.update(before)
        return Outcome(answer, written, tested)


@contextmanager
def session(folder: Path) -> Iterator[Session]:
    """A kernel's surroundings: started in the folder, figures kept instead of shown, nothing left behind."""
    kept, renderer = Session(), plotly.io.renderers.default
    with (
        chdir(folder),
        mock.patch.object(sys, "path", list(sys.path)),
        mock.patch.object(plotly.io, "show", lambda figure, *_, **__: kept.figures.append(figure.to_dict())),
        torch.random.fork_rng(),
    ):
        try:
            yield kept
        finally:
            plotly.io.renderers.default = renderer


@dataclass(frozen=True)
class Tried:
    """What became of a notebook, run once from top to bottom (errors by cell id, the figures that were shown), and of
    the answers, each tried in the place of its cell where the notebook had come to it."""

    errors: dict[str, Exception]
    figures: list[dict]
    outcomes: list[Outcome]


def run(notebook: NotebookNode, folder: Path, answers: Sequence[Answer] = ()) -> Tried:
    tests = {cell.metadata.nbgrader.grade_id: cell for cell in graded(notebook)}
    tried = Tried({}, [], [])
    with session(folder) as kernel:
        for cell in code_cells(notebook):
            name = mark(cell).get("grade_id", "")
            for answer in (answer for answer in answers if answer.cell == name):
                tried.outcomes.append(kernel.attempt(answer, tests[f"{name}-test"]))
            kernel.figures.clear()
            if error := kernel.run(cell.source, cell.id):
                tried.errors[cell.id] = error
            tried.figures.extend(kernel.figures)
    return tried


def points(notebook: NotebookNode, errors: dict[str, Exception]) -> float:
    return sum(mark(cell)["points"] for cell in graded(notebook) if cell.id not in errors)
