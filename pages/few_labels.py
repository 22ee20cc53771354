"""Few labels: a task as a cloze, zero-shot and after a few examples; PET, P-tuning, VAT."""

from sections.few_labels import blank, claim, ensemble, pairs, patterns, prompt, subject, train
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

lesson = Lesson("few_labels")
style(subject)
lesson.open()
inputs = subject.read(lesson)
blank.show(inputs)

parts = {
    _("Own pattern"): patterns.show,
    _("Two texts"): pairs.show,
    _("Train with few"): train.show,
    _("P-tuning"): prompt.show,
    _("Several patterns"): ensemble.show,
    _("The claim"): claim.show,
    _("The code"): claim.show_code,
}
show_parts(parts, lesson, inputs)
lesson.close()
