"""ELECTRA: a small generator replaces tokens; a discriminator predicts for every token whether it was replaced."""

from sections.electra import asked, both, claim, generator, side_by_side, subject
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("electra")
lesson.open()
inputs = subject.read(lesson)
side_by_side.show(inputs)

parts = {
    _("The task"): asked.show,
    _("The diff"): claim.show_diff_to_bert,
    _("Train both"): both.show,
    _("The claim"): claim.show,
    _("The generator’s size"): generator.show,
    _("What became of it"): claim.show_published,
}
show_parts(parts, lesson, inputs)
lesson.close()
