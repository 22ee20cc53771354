"""Attribution: five methods that explain a classifier's prediction or a masked-LM prediction, and their comparison."""

from sections.attribution import agreement, deletion, one_method, slope, subject, why, word_map
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("attribution")
lesson.open()
inputs = subject.read(lesson)
if inputs is None:
    why.show(lesson)
else:
    word_map.show(inputs)
    parts = {
        _("One method"): one_method,
        _("Where the slope misleads"): slope,
        _("Do they agree?"): agreement,
        _("The deletion test"): deletion,
        _("Why they differ"): why,
    }
    for tab, part in tabs(parts):
        with tab:
            part.show(lesson, inputs)
lesson.close()
