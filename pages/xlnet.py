"""XLNet: words predicted in a random order, each from those before it in that order."""

from sections.xlnet import after, both, claim, code, memory, orders, remembering, streams, subject, together
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _, pgettext

style(subject)
lesson = Lesson("xlnet")
lesson.open()
inputs = subject.read(lesson)
orders.show(inputs)

parts = {
    _("Two streams"): streams,
    _("Words together"): together,
    _("The diff"): code,
    _("Train both"): both,
    pgettext("of XLNet", "Memory"): memory,
    _("Its worth"): remembering,
    _("The claim"): claim,
    _("What became of it"): after,
}
show_parts(parts, lesson, inputs)
lesson.close()
