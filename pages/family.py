"""The family tree: models derived from BERT, what each of them changed, and their cost."""

from sections.family import race, subject, table, teaches, tree
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("family")
lesson.open()
inputs = subject.read(lesson)
tree.show(lesson, inputs)

parts = {
    _("All in one table"): table.show,
    _("Size and cost"): race.show,
    _("What it teaches"): teaches.show,
    _("The road to BERT"): teaches.show_road,
}
show_parts(parts, lesson, inputs)
lesson.close()
