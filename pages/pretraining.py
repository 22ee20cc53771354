"""Pre-training: choose a text, train live, stop and resume, inspect every saved step, keep the model."""

from sections.pretraining import cockpit, code, comparing, keep, look_back, recipe, texts
from ui.lesson import Lesson
from ui.page import open_part, show_parts
from ui.runs import manager
from ui.translations import _

lesson = Lesson("pretraining")
lesson.open()
manager().warm_up()
text = cockpit.choose(lesson)
parts = {
    cockpit.title(): cockpit,
    _("The text"): texts,
    _("The curves"): comparing,
    _("Look back"): look_back,
    _("The recipe"): recipe,
    _("Keep it"): keep,
    _("The code"): code,
}
if open_part(parts) is not cockpit:
    cockpit.show_running()
show_parts(parts, lesson, text)
lesson.close()
