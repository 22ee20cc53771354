"""Text generation: UniLM, which has an attention mask for it; BERT as a generator and as a corrector; BART."""

from pathlib import Path

import streamlit as st

from sections.to_write import (
    after,
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
from ui.page import tabs
from ui.translations import _

st.html(Path(subject.__file__).with_name("to_write.css"))
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
    _("What became of it"): after,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
