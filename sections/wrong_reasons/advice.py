"""What to do about it, and the code."""

from ui.lesson import Lesson
from ui.source import show_source


def show(lesson: Lesson, cue: str) -> None:
    from minibert.inside.predictions import checklist
    from minibert.inside.predictions import spurious_cues as cues

    lesson.show("What to do about it", title=False)
    lesson.show("The code", level=3)
    show_source(cues.with_aside, find="cued")
    show_source(cues.overlap_pairs, find="common")
    show_source(cues.cue_words)
    show_source(checklist.check, find="rule.edit")
