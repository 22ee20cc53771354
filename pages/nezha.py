"""NEZHA: relative instead of absolute positions; and the techniques of large runs: float16 arithmetic, LAMB."""

from sections.nezha import after, arithmetic, batches, both, claim, code, distances, grown, layers, shift, subject
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("nezha")
lesson.open()
inputs = subject.read(lesson)
distances.show(inputs)

parts = {
    _("Words in front"): shift,
    _("The diff"): code,
    _("Train both"): both,
    _("The claim"): claim,
    _("The arithmetic"): arithmetic,
    "LAMB": layers,
    _("Batches"): batches,
    _("LAMB’s claim"): grown,
    _("What became of it"): after,
}
show_parts(parts, lesson, inputs)
lesson.close()
