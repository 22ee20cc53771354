"""The diff: NEZHA's lines against BERT's."""

from sections.nezha.subject import Inputs
from ui.code_diff import CodeChange, show_diff
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.model import Embeddings, SelfAttention
    from minibert.relatives import nezha
    from minibert.relatives.nezha import EmbeddingsWithoutPositions, RelativeAttention
    from minibert.text.position_vectors import sinusoids

    lesson.show("The difference as a diff", title=False)
    show_diff(
        [
            CodeChange(_("Scores and what is mixed"), SelfAttention.attend, RelativeAttention.attend),
            CodeChange(_("What a token begins as"), Embeddings.forward, EmbeddingsWithoutPositions.forward),
            CodeChange(_("A table that is not learned"), None, sinusoids),
        ]
    )
    show_source(nezha, find="RELATIVE = ", label=_("All of the relative: `minibert/relatives/nezha.py`"))
    lesson.show("The paper’s formula and the code’s")
