"""Input: how one or two sentences become the sequence of vectors that BERT reads."""

from sections.input import length, own_token, places, row, subject, too_long, vectors
from ui.lesson import Lesson
from ui.parts import opened
from ui.translations import _

lesson = Lesson("input")
lesson.open()
seen = subject.read(lesson)
parts = {
    _("Three vectors"): vectors,
    _("The row"): row,
    _("Too long"): too_long,
    _("A token of your own"): own_token,
    _("Places"): places,
    _("Why 512?"): length,
}
about = {_("The row"): ("step",), _("Too long"): ("keep",)}  # part → parameters of older links
for tab, part in opened(parts, about):
    with tab:
        part.show(lesson, seen)
lesson.close()
