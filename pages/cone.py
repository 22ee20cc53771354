"""The cone: sentence vectors are anisotropic; whitening or a flow spreads them, which makes cosines meaningful."""

from sections.cone import claim, cloud, flow, subject, whitening, words
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("cone")
lesson.open()
inputs = subject.read(lesson)
cloud.show(inputs)

parts = {
    _("The cone"): words.show,
    _("Whitening"): whitening.show,
    _("Flow"): flow.show,
    _("The claim"): claim.show,
    _("The code"): claim.show_code,
}
show_parts(parts, lesson, inputs)
lesson.close()
