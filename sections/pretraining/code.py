"""The loop that trains everything here, and its losses."""

from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, text) -> None:
    from minibert.model import BertForPreTraining
    from minibert.objectives import losses
    from minibert.train import train

    lesson.show("The code", title=False)
    show_source(train, find=".backward()", label=_("The training loop: `train`"))
    show_source(BertForPreTraining.answer, find="cross_entropy", label=_("The two losses: `BertForPreTraining.answer`"))
    show_source(losses, find='terms["loss"] =', label=_("Their sum: `losses`"))
