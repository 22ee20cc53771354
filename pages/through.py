"""One sentence through BERT: from letters to predictions in one picture, with the model's actual numbers."""

from sections.through import code, stage_by_stage, three_models, whole
from ui.lesson import Lesson
from ui.page import open_part, show_parts
from ui.translations import _

lesson = Lesson("through")
lesson.open()
parts = {
    _("Stage by stage"): stage_by_stage,
    _("Three models"): three_models,
    _("The code"): code,
}
inputs = whole.show(three_models.guess_first if open_part(parts) is three_models else None)
show_parts(parts, lesson, inputs)
lesson.close()
