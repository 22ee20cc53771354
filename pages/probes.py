"""What each layer knows: the logit lens, linear probes with control tasks, and what papers report."""

from sections.probes import asking, lens, limits, papers, subject
from ui.lesson import Lesson
from ui.page import open_part, show_parts
from ui.translations import _

lesson = Lesson("probes")
lesson.open()
parts = {
    _("The logit lens"): lens,
    _("Ask every layer"): asking,
    _("Surface, syntax, meaning"): papers,
    _("How much to believe"): limits,
}
inputs = subject.read(lesson, open_part(parts) is lens)  # sentence with a blank, its true word, model, all in the link
show_parts(parts, lesson, inputs)
lesson.close()
