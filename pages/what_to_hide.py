"""What to mask: pieces, words, phrases, names, spans, similar words; and what a model learns from each."""

from sections.what_to_hide import after, both, claim, code, hard, nsp, side_by_side, subject, three
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("what_to_hide")
lesson.open()
inputs = subject.read(lesson)
side_by_side.show(inputs)

parts = {
    _("How hard"): hard,
    _("Three words"): three,
    _("The diff"): code,
    _("Train both"): both,
    _("The claim"): claim,
    _("Next sentence?"): nsp,
    _("What became of it"): after,
}
show_parts(parts, lesson, inputs)
lesson.close()
