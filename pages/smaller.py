"""Smaller models: distillation, pruning, architecture search, 8-bit quantization."""

from sections.smaller import claim, code, cut, eight_bits, learn, losses, search, subject, tradeoff
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("smaller")
lesson.open()
inputs = subject.read(lesson)
tradeoff.show(inputs)

parts = {
    _("Teacher and student"): learn,
    _("What is asked"): losses,
    _("Cut away"): cut,
    _("Search"): search,
    _("Eight bits"): eight_bits,
    _("The claim"): claim,
    _("The code"): code,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
