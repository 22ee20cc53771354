"""The family tree: models derived from BERT, what each of them changed, and their cost."""

from sections.family import race, road_here, subject, table, teaches, tree
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("family")
lesson.open()
inputs = subject.read(lesson)
tree.show(lesson, inputs)

parts = {
    _("All in one table"): table,
    _("The race"): race,
    _("What it teaches"): teaches,
    _("The road to BERT"): road_here,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
