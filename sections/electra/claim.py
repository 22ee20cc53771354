"""The paper's claim beside the results recorded in this repository."""

from sections.electra.subject import Inputs
from ui.claim import show_claim
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    show_claim("electra", "who_is_meant", _("whom a pronoun means, F1"))
    lesson.show("Why small models may disagree")
