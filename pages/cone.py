"""The cone: sentence vectors are anisotropic; whitening or a flow spreads them, which makes cosines meaningful."""

from sections.cone import claim, cloud, code, flow, subject, whitening, words
from ui.lesson import Lesson
from ui.page import tabs
from ui.translations import _

lesson = Lesson("cone")
lesson.open()
inputs = subject.read(lesson)
cloud.show(inputs)

parts = {
    _("The cone"): words,
    _("Whitening"): whitening,
    _("Flow"): flow,
    _("The claim"): claim,
    _("The code"): code,
}
for tab, part in tabs(parts):
    with tab:
        part.show(lesson, inputs)
lesson.close()
