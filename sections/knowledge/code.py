"""The difference as code, without a new weight: positions of the branches, and the visibility mask."""

from sections.knowledge.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.knowledge.sentence_tree import SentenceTree, read, sentence_tree

    lesson.show("The difference as code", title=False)
    show_source(sentence_tree, label=_("Where a branch stands, and its soft positions"), expanded=True)
    show_source(SentenceTree.visible, label=_("Who sees whom"))
    show_source(read, label=_("BERT reads it"))
