"""The picture: one sentence, from its letters to the answers."""

from collections.abc import Callable
from functools import partial

from ui.page import picture
from ui.through.passage import Passage, PassageState, once_loaded, read_passage
from ui.through.picture import at_once, show_picture


def show(guess_first: Callable[[Passage], bool] | None = None) -> PassageState:
    """The fields and the picture; returns what the other parts need. guess_first: whether the open part asks what the
    picture would tell."""
    return once_loaded(partial(_draw, guess_first))


def _draw(guess_first: Callable[[Passage], bool] | None, waiting: bool) -> PassageState:
    passage = read_passage()
    if passage is not None:
        with picture():
            show_picture(passage, waiting and not at_once(passage), guess_first is not None and guess_first(passage))
    return PassageState(passage, waiting)
