"""nbgrader, from the project's folder: assignments are the lessons, everything of a course lies in course/."""

import os
from pathlib import Path

c = get_config()  # noqa: F821
home = Path(__file__).resolve().parent

(home / "course").mkdir(exist_ok=True)  # the gradebook makes no folder

c.CourseDirectory.course_id = "minibert"
c.CourseDirectory.root = str(home)
c.CourseDirectory.source_directory = "lessons"
c.CourseDirectory.notebook_id = "exercise"  # one language counts, or each task would twice; `--notebook exercise.zh`
for step in ("source_with_tests", "solution", "release", "submitted", "autograded", "feedback"):
    c.CourseDirectory[f"{step}_directory"] = f"course/{step}"
c.CourseDirectory.db_url = f"sqlite:///{home / 'course' / 'gradebook.db'}"
c.ExportPlugin.to = "course/grades.csv"

# Notebooks that came as files: course/downloaded/<lesson>/archive/<student>_exercise.ipynb, or a zip of these.
c.ZipCollectApp.downloaded_directory = "course/downloaded"
c.FileNameCollectorPlugin.named_regexp = r"(.*/)?(?P<student_id>[^/]+)_(?P<file_id>exercise(\.zh)?)"

# A student gets the notebook alone: what lies beside it is the lesson's own, or holds the answers.
notebooks = {"exercise.ipynb", "exercise.zh.ipynb"}
beside = {path.name for path in (home / "lessons").glob("*/*")} - notebooks
c.CourseDirectory.ignore = sorted({".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", *beside})

# nbgrader gives no points where a test writes to stderr, and a warning is no mistake.
os.environ["PYTHONWARNINGS"] = "ignore"
c.Execute.timeout = 120  # seconds a cell: more than a whole notebook takes
