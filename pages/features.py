"""Features or fine-tuning: which layers the new head reads, whether BERT is trained, and the cost of either."""

from sections.features import layers, recorded_runs, subject, two_runs
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("features")
lesson.open()
inputs = subject.read(lesson)
recorded_runs.show(inputs)
parts = {
    _("Run two of them now"): two_runs.show,
    _("Which vectors are read"): layers.show,
    _("In numbers"): recorded_runs.show_numbers,
    _("What it costs"): layers.show_cost,
}
show_parts(parts, lesson, inputs)
lesson.close()
