"""Smaller models: a student learns from a teacher; DistilBERT, TinyBERT, MiniLM; whole numbers of eight bits."""

from sections.smaller import claim, code, eight_bits, learn, losses, subject, tradeoff
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("smaller")
lesson.open()
seen = subject.read(lesson)
tradeoff.show(seen)

parts = {
    _("Teacher and student"): learn,
    _("What is asked"): losses,
    _("Eight bits"): eight_bits,
    _("The claim"): claim,
    _("The code"): code,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, seen)
lesson.close()
