"""How reliable these results are, and the code."""

from sections.probes.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.probes.logit_lens import layer_log_probs
    from minibert.inside.probes.probe import labels_by_type, probe

    lesson.show("How much to believe", title=False)
    lesson.show("The code", level=3)
    show_source(probe, find="LogisticRegression(C")
    show_source(labels_by_type, find="rng.choice")
    show_source(layer_log_probs, find="model.mlm")
