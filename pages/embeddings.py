"""Embeddings: one word rising through the layers; its meanings, vectors of sentences, and what pictures leave open."""

from sections.embeddings import analogies, limits, meanings, poolings, rising, sentence_vectors, subject
from ui.lesson import Lesson
from ui.page import tabs
from ui.samples import LANGUAGES
from ui.translations import _

lesson = Lesson("embeddings")
lesson.open()
seen = subject.read(lesson)  # model, word, the class's sentence: all in the link, settings in a drawer

PARTS = {
    _("Through the layers"): rising,
    _("Two meanings"): meanings,
    _("A vector for a sentence"): poolings,
    _("Sentences beside each other"): sentence_vectors,
    _("Sums"): analogies,
    _("What to believe"): limits,
}
OLDER = {  # links made when all parts stood below each other
    _("Two meanings"): ("of",),
    _("A vector for a sentence"): ("centre",),
    _("Sentences beside each other"): ("beside", *(f"{x}-{y}" for x in ("sentences", "query") for y in LANGUAGES)),
}
for tab, part in tabs(PARTS, older=OLDER):
    with tab:
        part.show(lesson, seen)
lesson.close()
