"""The paper's experiments at small scale: recorded results beside the paper's, and one arm to run live."""

from sections.experiments import differences, kinds, one_scale, own_run, reached, scale, subject
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("experiments")
lesson.open()
inputs = subject.read()  # the experiment, its pre-training text, and the metric
parts = {
    _("Scores"): one_scale.show,
    _("What may be said"): differences.show,
    _("Word by word"): kinds.show,
    _("Run one now"): own_run.show,
    _("What was scaled down"): scale.show,
    _("What BERT reached"): reached.show,
    _("The code"): scale.show_code,
}
show_parts(parts, lesson, inputs)
lesson.close()
