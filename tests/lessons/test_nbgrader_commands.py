"""nbgrader's own commands, in a folder that looks like the project: hand out, take in, grade, answer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.lessons.exercises import LESSONS, Exercise, exercises, graded, mark

ROOT = Path(__file__).resolve().parents[2]


# All are handed out. What nbgrader itself does with them is the same for all, and their cells are run by
# test_exercises.py: so these alone are graded, with our solution and as a student gets them.
GRADED = ("attention", "service")
WARNED = "attention"  # the lesson in which one student's right answer warns
WARNING = """
import warnings


def scores(q, k):
    warnings.warn("slow", UserWarning)
    return q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
"""


class Course:
    """The project once more: its files as links, `course/` its own. "*" names all lessons that there are."""

    def __init__(self, root: Path):
        self.root = root
        self.log = ""
        for name in ("minibert", "plots", "lessons", "checkpoints"):
            (root / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "nbgrader_config.py", root)
        self.nbgrader("generate_assignment", "*")
        for lesson in GRADED:
            self.hand_in("teacher", lesson, (LESSONS / lesson / "exercise.ipynb").read_text("utf-8"))
            self.hand_in("absent", lesson, self.released(lesson).read_text("utf-8"))
        ours = Exercise(LESSONS / WARNED).notebook
        next(cell for cell in ours.cells if mark(cell).get("grade_id") == "scores").source = WARNING
        self.hand_in("warned", WARNED, nbformat.writes(ours))
        self.nbgrader("autograde", "*")
        self.nbgrader("generate_feedback", "*")

    def nbgrader(self, *arguments: str) -> None:
        own = {name: str(self.root / "home") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        # The gradebook is made by `alembic`, which nbgrader looks for on the path, environment active or not.
        own["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(command, cwd=self.root, env=os.environ | own, capture_output=True, text=True)
        self.log += done.stdout + done.stderr

    def released(self, lesson: str) -> Path:
        return self.root / "course" / "release" / lesson / "exercise.ipynb"

    def feedback(self, student: str, lesson: str) -> Path:
        return self.root / "course" / "feedback" / student / lesson / "exercise.html"

    def hand_in(self, student: str, lesson: str, notebook: str) -> None:
        folder = self.root / "course" / "submitted" / student / lesson
        folder.mkdir(parents=True)
        (folder / "exercise.ipynb").write_text(notebook, "utf-8")

    def score(self, student: str, lesson: str) -> float:
        with Gradebook(f"sqlite:///{self.root / 'course' / 'gradebook.db'}") as book:
            return book.find_submission(lesson, student).score


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return Course(tmp_path_factory.mktemp("project"))


@pytest.mark.slow
@pytest.mark.parametrize("folder", exercises(), ids=lambda folder: folder.name)
def test_what_is_handed_out_is_the_student_s_version(course, folder):
    exercise, lesson = Exercise(folder), folder.name
    assert course.released(lesson).is_file(), course.log
    assert [path.name for path in course.released(lesson).parent.iterdir()] == ["exercise.ipynb"]
    empty = nbformat.read(course.released(lesson), as_version=4)
    assert [cell.source for cell in empty.cells] == [cell.source for cell in exercise.student_version().cells]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", GRADED)
def test_our_solution_earns_all_points(course, lesson):
    full = sum(mark(cell)["points"] for cell in graded(Exercise(LESSONS / lesson).notebook))
    assert course.score("teacher", lesson) == full
    assert course.feedback("teacher", lesson).is_file()


@pytest.mark.slow
@pytest.mark.parametrize("lesson", GRADED)
def test_what_was_left_empty_earns_nothing_and_is_told(course, lesson):
    assert course.score("absent", lesson) == 0
    assert "NotImplementedError" in course.feedback("absent", lesson).read_text("utf-8")


@pytest.mark.slow
def test_a_warning_costs_no_points(course):
    assert course.score("warned", WARNED) == course.score("teacher", WARNED)
