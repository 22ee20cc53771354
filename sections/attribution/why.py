"""Why the methods differ, and their code."""

from sections.attribution.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source


def show(lesson: Lesson, inputs: Inputs | None = None) -> None:
    from minibert.inside.explanations import attribution

    lesson.show("Why they differ")
    lesson.show("The code")
    show_source(attribution.gradient_times_input, find="autograd.grad")
    show_source(attribution.integrated_gradients, find="autograd.grad")
    show_source(attribution.exact_shapley, find="weight[")
    show_source(attribution.rolled_out, find="@ total")
    show_source(attribution.deletion_test, find="rank[")
