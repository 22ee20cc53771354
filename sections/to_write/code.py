"""The diff: UniLM's lines against BERT's."""

from sections.to_write.subject import Inputs
from ui.code_diff import CodeChange, show_diff
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.predictions import writing
    from minibert.model import every_real_token
    from minibert.objectives import MaskedLanguageModel
    from minibert.relatives import unilm
    from minibert.relatives.unilm import FourMasks, by_segments

    lesson.show("The difference as a diff", title=False)
    show_diff(
        [
            CodeChange(_("Who may look at whom"), every_real_token, by_segments),
            CodeChange(_("The objective, of a batch"), MaskedLanguageModel.corrupt, FourMasks.corrupt),
        ]
    )
    show_source(unilm, find="RELATIVE = ", label=_("All of the relative: `minibert/relatives/unilm.py`"))
    lesson.show("Writing")
    show_source(writing.step, "remember", label=_("One more token: keys and values of all earlier ones are kept"))
    show_source(writing.beam, "topk", label=_("Greedy and beam search"))
