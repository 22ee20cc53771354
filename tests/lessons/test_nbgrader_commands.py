"""nbgrader's own commands, in a folder that looks like the project: hand out, take in, grade, answer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.lessons.exercises import LESSONS, Exercise, graded, mark

ROOT = Path(__file__).resolve().parents[2]
LESSON = "attention"  # what nbgrader does is the same for all, and their cells are run by test_exercises.py
WARNING = """
import warnings


def scores(q, k):
    warnings.warn("slow", UserWarning)
    return q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
"""


class Course:
    """The project once more: its files as links, `course/` its own."""

    def __init__(self, root: Path):
        self.root = root
        self.log = ""
        for name in ("minibert", "plots", "lessons", "checkpoints"):
            (root / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "nbgrader_config.py", root)

    def nbgrader(self, *arguments: str) -> None:
        own = {name: str(self.root / "home") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        # The gradebook is made by `alembic`, which nbgrader looks for on the path, environment active or not.
        own["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(command, cwd=self.root, env=os.environ | own, capture_output=True, text=True)
        self.log += done.stdout + done.stderr

    def read(self, *path: str) -> str:
        found = self.root.joinpath("course", *path)
        assert found.is_file(), self.log
        return found.read_text("utf-8")

    def hand_in(self, student: str, notebook: str) -> None:
        folder = self.root / "course" / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        (folder / "exercise.ipynb").write_text(notebook, "utf-8")

    def score(self, student: str) -> float:
        with Gradebook(f"sqlite:///{self.root / 'course' / 'gradebook.db'}") as book:
            return book.find_submission(LESSON, student).score


@pytest.mark.release
@pytest.mark.notebooks
def test_an_exercise_is_handed_out_taken_in_graded_and_answered(tmp_path):
    course, ours = Course(tmp_path), Exercise(LESSONS / LESSON)
    course.nbgrader("generate_assignment", LESSON)
    empty = course.read("release", LESSON, "exercise.ipynb")
    assert [path.name for path in (tmp_path / "course" / "release" / LESSON).iterdir()] == ["exercise.ipynb"]
    cells = nbformat.reads(empty, as_version=4).cells
    assert [cell.source for cell in cells] == [cell.source for cell in ours.student_version().cells]

    course.hand_in("teacher", nbformat.writes(ours.notebook))
    course.hand_in("absent", empty)
    next(cell for cell in ours.notebook.cells if mark(cell).get("grade_id") == "scores").source = WARNING
    course.hand_in("warned", nbformat.writes(ours.notebook))
    course.nbgrader("autograde", LESSON)
    course.nbgrader("generate_feedback", LESSON)
    full = sum(mark(cell)["points"] for cell in graded(ours.notebook))
    assert [course.score(name) for name in ("teacher", "absent", "warned")] == [full, 0, full]
    assert "NotImplementedError" in course.read("feedback", "absent", LESSON, "exercise.html")
