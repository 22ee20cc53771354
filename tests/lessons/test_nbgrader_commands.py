"""nbgrader's own commands, in a folder that looks like the project: hand out, take in, grade, answer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.lessons.exercises import Exercise, exercises, graded, mark

ROOT = Path(__file__).resolve().parents[2]


class Course:
    """The project once more: its files as links, `course/` its own."""

    def __init__(self, root: Path):
        self.root = root
        for name in ("minibert", "plots", "lessons", "checkpoints"):
            (root / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "nbgrader_config.py", root)

    def nbgrader(self, *arguments: str) -> None:
        own = {name: str(self.root / "home") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(command, cwd=self.root, env=os.environ | own, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def hand_in(self, student: str, notebook: Path, lesson: str) -> None:
        folder = self.root / "course" / "submitted" / student / lesson
        folder.mkdir(parents=True)
        shutil.copy(notebook, folder / "exercise.ipynb")

    def scores(self, student: str, lesson: str) -> tuple[float, float]:
        with Gradebook(f"sqlite:///{self.root / 'course' / 'gradebook.db'}") as book:
            found = book.find_submission(lesson, student)
            return found.score, found.max_score


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return Course(tmp_path_factory.mktemp("project"))


@pytest.mark.slow
@pytest.mark.parametrize("folder", exercises(), ids=lambda folder: folder.name)
def test_from_handing_out_to_feedback(course, folder):
    lesson = folder.name
    course.nbgrader("generate_assignment", lesson)
    release = course.root / "course" / "release" / lesson
    assert [path.name for path in release.iterdir()] == ["exercise.ipynb"]
    ours, empty = Exercise(folder).notebook, nbformat.read(release / "exercise.ipynb", as_version=4)
    assert [cell.source for cell in empty.cells] == [cell.source for cell in Exercise(folder).student_version().cells]

    course.hand_in("teacher", folder / "exercise.ipynb", lesson)
    course.hand_in("absent", release / "exercise.ipynb", lesson)
    course.nbgrader("autograde", lesson)
    full = sum(mark(cell)["points"] for cell in graded(ours))
    assert course.scores("teacher", lesson) == (full, full)
    assert course.scores("absent", lesson) == (0, full)

    course.nbgrader("generate_feedback", lesson)
    answered = course.root / "course" / "feedback" / "absent" / lesson / "exercise.html"
    assert "NotImplementedError" in answered.read_text("utf-8")
