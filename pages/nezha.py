"""NEZHA: relative instead of absolute positions."""

from sections.nezha import after, both, claim, code, distances, shift, subject, vectors
from ui.lesson import Lesson
from ui.navigation import link_to
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("nezha")
lesson.open()
inputs = subject.read(lesson)
distances.show(inputs)

parts = {
    _("Words in front"): shift,
    _("What a distance adds"): vectors,
    _("The diff"): code,
    _("Train both"): both,
    _("The claim"): claim,
    _("What became of it"): after,
}
show_parts(parts, lesson, inputs)
how = _("It was trained in half precision, with LAMB and in large batches: *What else can be set* shows what they do")
link_to("training_options", how, query_params={"option": "half"})
lesson.close()
