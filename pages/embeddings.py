"""Embeddings: a word's vectors through the layers, word senses, sentence vectors, analogies, and limits of plots."""

from sections.embeddings import analogies, limits, meanings, poolings, rising, sentence_vectors, subject
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("embeddings")
lesson.open()
inputs = subject.read(lesson)  # model, word and the user's sentence, all stored in the link; settings in the drawer

parts = {
    _("Through the layers"): rising,
    _("Two meanings"): meanings,
    _("A vector for a sentence"): poolings,
    _("Sentences beside each other"): sentence_vectors,
    _("Sums"): analogies,
    _("What to believe"): limits,
}
show_parts(parts, lesson, inputs)
lesson.close()
