"""Few labels: a task as a cloze, zero-shot and after a few examples; PET, P-tuning, VAT."""

from sections.few_labels import blank, claim, code, ensemble, patterns, prompt, subject, train
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("few_labels")
lesson.open()
inputs = subject.read(lesson)
blank.show(inputs)

parts = {
    _("Own pattern"): patterns,
    _("Train with few"): train,
    _("P-tuning"): prompt,
    _("Several patterns"): ensemble,
    _("The claim"): claim,
    _("The code"): code,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
