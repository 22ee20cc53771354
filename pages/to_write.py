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
from ui.page import show_parts, style, views
from ui.translations import _

style(subject)
lesson = Lesson("to_write")
lesson.open()

of_unilm = {
    "diff": (_("The diff"), code),
    "answers": (_("Ask and answer"), answers),
    "both": (_("Train both"), both),
    "claim": (_("The claim"), claim.of_unilm),
}
of_bert = {
    "generator": (_("Generator"), generator),
    "corrector": (_("Corrector"), corrector),
    "claim": (_("The corrector’s claim"), claim.of_the_corrector),
}
of_bart = {
    "noises": (_("BART’s noises"), noises),
    "restores": (_("BART restores"), restores),
}


def unilm(lesson: Lesson, _inputs: None) -> None:
    inputs = subject.read(lesson)
    mask_and_words.show(inputs)
    views("unilm", of_unilm)(lesson, inputs)


parts = {
    "UniLM": unilm,
    "BERT": views("bert", of_bert),
    "BART": views("bart", of_bart),
    _("What became of it"): "What became of it",
}
show_parts(parts, lesson, None)
lesson.close()
