"""Smaller models: distillation, pruning, architecture search, 8-bit quantization."""

from sections.smaller import claim, code, cut, eight_bits, learn, losses, search, subject, tradeoff
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("smaller")
lesson.open()
inputs = subject.read(lesson)
tradeoff.show(inputs)

parts = {
    _("Teacher and student"): learn,
    _("The losses"): losses,
    _("Cut away"): cut,
    _("Search"): search,
    _("Eight bits"): eight_bits,
    _("The claim"): claim,
    _("The code"): code,
}
show_parts(parts, lesson, inputs)
lesson.close()
