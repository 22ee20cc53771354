"""Next sentence prediction: how pairs are made from documents, how models judge them, and whether it helps."""

from sections.next_sentence import game, judged, kinds, making, new_head, papers, subject
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("next_sentence")
lesson.open()
inputs = subject.read()
parts = {
    _("You first"): game,
    _("How pairs are made"): making,
    _("Judged live"): judged,
    _("Topic against coherence"): kinds,
    _("Can it be taught?"): new_head,
    _("Was it of any use?"): papers,
}
show_parts(parts, lesson, inputs)
lesson.close()
