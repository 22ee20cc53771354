"""One sentence through BERT: from letters to predictions in one picture, with the model's actual numbers."""

from sections.through import code, stage_by_stage, three_models, whole
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("through")
lesson.open()
inputs = whole.show()

parts = {
    _("Stage by stage"): stage_by_stage,
    _("Three models"): three_models,
    _("The code"): code,
}
show_parts(parts, lesson, inputs)
lesson.close()
