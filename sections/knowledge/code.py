"""The difference as code, without a new weight: positions of the branches, and the visibility mask."""

from sections.knowledge.subject import Subject
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, seen: Subject) -> None:
    from minibert import knowledge

    lesson.show("The difference as code", title=False)
    show_source(knowledge.sentence_tree, label=_("Where a branch stands, and its soft positions"), expanded=True)
    show_source(knowledge.SentenceTree.visible, label=_("Who sees whom"))
    show_source(knowledge.read, label=_("BERT reads it"))
