"""Attention explorer: all heads on the class's sentence, their kinds, what breaks without them, and BertViz's views."""

from sections.attention_explorer import bertviz_views, kinds, look, subject, switches
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("attention_explorer")
lesson.open()
seen = subject.read(lesson)  # the class's sentence; in a drawer the model, a second sentence, what stands beside it
parts = {
    _("Look"): look,
    _("Kinds of heads"): kinds,
    _("Switch heads off"): switches,
    "BertViz": bertviz_views,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, seen)
lesson.close()
