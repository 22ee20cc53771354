"""Input: how one or two sentences become the sequence of vectors that BERT reads."""

from sections.input import length, own_token, places, row, subject, vectors
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("input")
lesson.open()
inputs = subject.read(lesson)
parts = {
    _("Three vectors"): vectors.show,
    _("The row"): row.show,
    _("Too long"): length.show_truncation,
    _("A token of your own"): own_token.show,
    _("Places"): places.show,
    _("Why 512?"): length.show_cost,
}
show_parts(parts, lesson, inputs)
lesson.close()
