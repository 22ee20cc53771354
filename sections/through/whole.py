"""The picture: one sentence, from its letters to the answers."""

from ui.page import picture
from ui.through.passage import PassageState, once_loaded, read_passage
from ui.through.picture import at_once, show_picture


def show() -> PassageState:
    """The fields and the picture; returns what the other parts need."""
    return once_loaded(_draw)


def _draw(waiting: bool) -> PassageState:
    passage = read_passage()
    if passage is not None:
        with picture():
            show_picture(passage, waiting and not at_once(passage))
    return PassageState(passage, waiting)
