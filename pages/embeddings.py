"""Embeddings: a word's vectors through the layers, word senses, sentence vectors, analogies, and limits of plots."""

from sections.embeddings import analogies, limits, meanings, poolings, rising, sentence_vectors, subject
from ui.lesson import Lesson
from ui.page import tabs
from ui.samples import LANGUAGES
from ui.translations import _

lesson = Lesson("embeddings")
lesson.open()
seen = subject.read(lesson)  # model, word and the user's sentence, all stored in the link; settings in the drawer

PARTS = {
    _("Through the layers"): rising,
    _("Two meanings"): meanings,
    _("A vector for a sentence"): poolings,
    _("Sentences beside each other"): sentence_vectors,
    _("Sums"): analogies,
    _("What to believe"): limits,
}
OLDER = {  # title → parameters of links from before there were tabs
    _("Two meanings"): ("of",),
    _("A vector for a sentence"): ("centre",),
    _("Sentences beside each other"): ("beside", *(f"{x}-{y}" for x in ("sentences", "query") for y in LANGUAGES)),
}
for tab, part in tabs(PARTS, older=OLDER):
    with tab:
        part.show(lesson, seen)
lesson.close()
