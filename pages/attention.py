"""Attention: one head number by number, all heads, ablations, comparison with an RNN, and weights as explanations."""

from sections.attention import against_rnn, all_heads, break_it, one_head, reasons, small_numbers, subject
from ui.lesson import Lesson
from ui.page import open_part, show_parts
from ui.translations import _

lesson = Lesson("attention")
lesson.open()
parts = {
    _("One head"): one_head,
    _("In small numbers"): small_numbers,
    _("All heads"): all_heads,
    _("Break it"): break_it,
    _("Against an RNN"): against_rnn,
    _("Weights and reasons"): reasons,
}
inputs = subject.read(lesson, open_part(parts).needs())  # of sentence, layer, head, model … what the open part reads
show_parts(parts, lesson, inputs)
lesson.close()
