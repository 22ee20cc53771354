"""The paper in its own order: what each paragraph says, and the page that shows it."""

from sections.reading import road
from ui.lesson import Lesson
from ui.page import style, tabs
from ui.translations import _

lesson = Lesson("reading")
style(road)
lesson.open()
chapters = {
    _("1 Introduction"): "1 Introduction",
    _("2 Related work"): "2 Related work",
    _("3 BERT"): "3 BERT",
    _("4 Experiments"): "4 Experiments",
    _("5 Ablations"): "5 Ablations",
    _("6 Conclusion"): "6 Conclusion",
    _("Appendix"): "Appendix",
}
for tab, chapter in tabs(chapters):
    with tab:
        road.show(lesson, chapter)
lesson.close()
