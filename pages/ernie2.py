"""ERNIE 2.0: tasks added one after the other, and learned together with those before; one more embedding."""

from sections.ernie2 import claim, code, stages, train
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("ernie2")
lesson.open()
inputs = stages.read()
stages.show(inputs)

parts = {
    _("Three ways"): train,
    _("The claim"): claim,
    _("The four tasks"): code.show_tasks,
    _("The diff"): code,
}
show_parts(parts, lesson, inputs)
lesson.close()
