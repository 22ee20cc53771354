"""Sentence vectors: one vector per text, close for similar texts; Sentence-BERT, SimCSE, SimBERT."""

from sections.sentence_vectors import claim, code, desk, find_write, learn, pairs, poolings, subject
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("sentence_vectors")
lesson.open()
inputs = subject.read(lesson)
desk.show(inputs)

parts = {
    _("Pairs or vectors"): pairs,
    _("Which pooling"): poolings,
    _("Train SimCSE"): learn,
    _("Find and write"): find_write,
    _("The claim"): claim,
    _("The code"): code,
}
show_parts(parts, lesson, inputs)
lesson.close()
