"""What became of it."""

from sections.to_write.subject import Subject
from ui.lesson import Lesson


def show(lesson: Lesson, seen: Subject) -> None:
    lesson.show("What became of it", title=False)
