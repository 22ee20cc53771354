"""Masking: predictions for masked words, the choice of masked tokens, and why not all of them become [MASK]."""

from sections.masking import epochs, falling, fill, paper, subject, three_readings, two_sentences
from ui.lesson import Lesson
from ui.page import open_part, show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("masking")
lesson.open()
parts = {
    _("Fill the blanks"): fill,
    _("What falls"): falling,
    _("Epoch after epoch"): epochs,
    _("Two sentences"): two_sentences,
    _("Why not always [MASK]"): three_readings,
    _("In the paper"): paper,
}
inputs = subject.read(lesson, open_part(parts) not in (two_sentences, paper))
show_parts(parts, lesson, inputs)
lesson.close()
