"""Input: how one or two sentences become the sequence of vectors that BERT reads."""

from sections.input import length, places, row, subject, vectors
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("input")
lesson.open()
inputs = subject.read(lesson)
parts = {
    _("Three vectors"): vectors,
    _("The row"): row,
    _("Places"): places,
    _("Too long"): length,
}
show_parts(parts, lesson, inputs)
lesson.close()
