"""The functions that computed the picture."""

from ui.lesson import Lesson
from ui.source import show_source
from ui.through.passage import PassageState


def show(lesson: Lesson, inputs: PassageState) -> None:
    lesson.show("The code", title=False)
    if inputs.waiting:  # torch is still loading
        return
    from minibert.inside.one_pass import OnePass
    from minibert.model import Bert, Block, Embeddings

    show_source(Bert.forward, find="tap")
    show_source(Embeddings.forward, find="tap")
    show_source(Block.forward, find="tap")
    show_source(OnePass)
