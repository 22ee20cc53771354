"""Attention explorer: all heads on the user's sentence, their kinds, the effect of removing them, BertViz's views."""

from sections.attention_explorer import bertviz_views, kinds, look, subject, switches
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("attention_explorer")
lesson.open()
inputs = subject.read(lesson)  # the user's sentence; in the drawer: model, second sentence, what to compare with
parts = {
    _("Look"): look,
    _("Kinds of heads"): kinds,
    _("Switch heads off"): switches,
    "BertViz": bertviz_views,
}
show_parts(parts, lesson, inputs)
lesson.close()
