"""What became of it."""

from sections.to_write.subject import Inputs
from ui.lesson import Lesson


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("What became of it", title=False)
