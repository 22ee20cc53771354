"""ALBERT: factorized embeddings, one block shared by all layers, and sentence order prediction."""

from sections.albert import both, claim, order, repetitions, seconds, subject, weights
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("albert")
lesson.open()
inputs = subject.read(lesson)
repetitions.show(inputs)

parts = {
    _("The weights"): weights.show,
    _("The diff"): claim.show_diff_to_bert,
    _("Train both"): both.show,
    _("Order or topic"): order.show,
    _("The claim"): claim.show,
    _("Seconds"): seconds.show,
    _("What became of it"): weights.show_published,
}
show_parts(parts, lesson, inputs)
lesson.close()
