"""Embeddings: a word's vectors through the layers, word senses, sentence vectors, analogies, and limits of plots."""

from sections.embeddings import analogies, limits, meanings, poolings, rising, sentence_vectors, subject
from ui.lesson import Lesson
from ui.page import open_part, show_parts
from ui.translations import _

lesson = Lesson("embeddings")
lesson.open()
parts = {
    _("Through the layers"): rising,
    _("Two meanings"): meanings,
    _("A vector for a sentence"): poolings,
    _("Sentences beside each other"): sentence_vectors,
    _("Sums"): analogies,
    _("What to believe"): limits,
}
inputs = subject.read(lesson, open_part(parts) is rising)  # model, word, the user's sentence; settings in the drawer
show_parts(parts, lesson, inputs)
lesson.close()
