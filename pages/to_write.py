"""Text generation: UniLM, which has an attention mask for it; BERT as a generator and as a corrector; BART."""

from sections.to_write import (
    answers,
    both,
    claim,
    code,
    corrector,
    generator,
    mask_and_words,
    noises,
    restores,
    subject,
)
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("to_write")
lesson.open()
inputs = subject.read(lesson)
mask_and_words.show(inputs)

parts = {
    _("The diff"): code,
    _("Ask and answer"): answers,
    _("Train both"): both,
    _("The claim"): claim,
    _("Generator"): generator,
    _("Corrector"): corrector,
    _("BART’s noises"): noises,
    _("BART restores"): restores,
    _("What became of it"): "What became of it",
}
show_parts(parts, lesson, inputs)
lesson.close()
