"""The diff: ALBERT's lines against BERT's."""

from sections.albert.subject import Inputs
from ui.code_diff import CodeChange, show_diff
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.model import Embeddings, stack
    from minibert.relatives import albert
    from minibert.relatives.parts.factorised import FactorisedEmbeddings
    from minibert.text.segment_pairs import ordered_pairs, segment_pairs

    lesson.show("The difference as a diff", title=False)
    show_diff(
        [
            CodeChange(_("One block"), stack, albert.blocks),
            CodeChange(_("A narrow embedding"), Embeddings, FactorisedEmbeddings),
            CodeChange(_("Order in the place of topic"), segment_pairs, ordered_pairs),
        ]
    )
    show_source(albert, find="RELATIVE = ", label=_("All of the relative: `minibert/relatives/albert.py`"))
