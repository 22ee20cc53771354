"""One output layer: the paper's figure 4 on the user's text, training from both starts, input and head, mistakes."""

from sections.output_layer import data, figure4, input_and_head, mistakes, subject, train
from ui.lesson import Lesson
from ui.page import show_parts
from ui.runs import manager
from ui.translations import _

lesson = Lesson("output_layer")
lesson.open()
manager().warm_up()
chosen = subject.read(lesson)
figure4.show(chosen)

parts = {
    _("Train it"): train,
    _("Input and head"): input_and_head,
    _("Right and wrong"): mistakes,
    _("Data"): data,
}
show_parts(parts, lesson, chosen)
lesson.close()
