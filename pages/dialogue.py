"""Dialogue: intent and entities from one small network, DIET, compared with BERT with a joint head."""

from sections.dialogue import chat, claim, how, learn, subject
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("dialogue")
lesson.open()
inputs = subject.read(lesson)
chat.show(inputs)

parts = {
    _("How it works"): how.show,
    _("Train"): learn.show,
    _("The claim"): claim.show,
    _("The code"): claim.show_code,
}
show_parts(parts, lesson, inputs)
lesson.close()
