"""Knowledge: facts attached to the words of a sentence, and an attention mask that limits their effect."""

from sections.knowledge import claim, entities, graph, noise, right_name, roles, subject, tree
from ui.lesson import Lesson
from ui.page import show_parts, style
from ui.translations import _

style(subject)
lesson = Lesson("knowledge")
lesson.open()
inputs = subject.read(lesson)
tree.show(lesson, inputs)

parts = {
    _("Knowledge noise"): noise.show,
    _("The code"): claim.show_code,
    _("Right name?"): right_name.show,
    _("Roles"): roles.show,
    _("Entities"): entities.show,
    _("The graph"): graph.show,
    _("The claim"): claim.show,
}
show_parts(parts, lesson, inputs)
lesson.close()
