"""The road to BERT: from one number a word to a vector for each word of each sentence."""

from sections.family.subject import Inputs
from ui.lesson import Lesson
from ui.navigation import link_to
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The road to BERT", title=False)
    link_to("embeddings", label=_("One word, several meanings: see it in Embeddings"))
