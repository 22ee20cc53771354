"""Input: how one or two sentences become the sequence of vectors that BERT reads."""

from sections.input import length, own_token, places, row, subject, too_long, vectors
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("input")
lesson.open()
inputs = subject.read(lesson)
parts = {
    _("Three vectors"): vectors,
    _("The row"): row,
    _("Too long"): too_long,
    _("A token of your own"): own_token,
    _("Places"): places,
    _("Why 512?"): length,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
