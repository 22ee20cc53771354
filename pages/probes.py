"""What each layer knows: the logit lens, linear probes with control tasks, and what papers report."""

from sections.probes import asking, lens, limits, papers, subject
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("probes")
lesson.open()
seen = subject.read(lesson)  # the sentence with a blank, its right word, the model: all in the link

PARTS = {
    _("The logit lens"): lens,
    _("Ask every layer"): asking,
    _("Surface, syntax, meaning"): papers,
    _("How much to believe"): limits,
}
OLDER = {  # what only a part has in links made when all parts stood below each other
    _("Ask every layer"): ("seeds", "beside", "measure", "sentences-en", "sentences-zh", "sentences-toy"),
}
for tab, part in tabs(PARTS, older=OLDER):
    with tab:
        part.show(lesson, seen)
lesson.close()
