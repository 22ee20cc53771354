"""Attribution: five methods that explain a classifier's prediction or a masked-LM prediction, and their comparison."""

from sections.attribution import deletion, methods, slope, subject, word_map
from ui.classifiers import classifier_named
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("attribution")
lesson.open()
inputs = subject.read(lesson)
if inputs is None:
    methods.show_why(lesson)
else:
    word_map.show(inputs)
    parts = {
        _("One method"): methods.show_one,
        _("Where the slope misleads"): slope.show,
        _("Do they agree?"): methods.show_agreement,
        _("The deletion test"): deletion.show,
        _("Why they differ"): methods.show_why,
    }
    show_parts(parts, lesson, inputs)
    if inputs.missing:
        classifier_named(inputs.missing)
lesson.close()
