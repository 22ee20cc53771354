"""What each layer knows: the logit lens, linear probes with control tasks, and what papers report."""

from sections.probes import asking, lens, limits, papers, subject
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("probes")
lesson.open()
inputs = subject.read(lesson)  # the sentence with a blank, its true word, the model: all stored in the link

PARTS = {
    _("The logit lens"): lens,
    _("Ask every layer"): asking,
    _("Surface, syntax, meaning"): papers,
    _("How much to believe"): limits,
}
for tab, part in tabs(PARTS):
    with tab:
        part.show(lesson, inputs)
lesson.close()
