"""The diff: XLNet's lines against BERT's."""

from sections.xlnet.subject import Inputs
from ui.code_diff import CodeChange, show_diff
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.model import BertForPreTraining, Embeddings, SelfAttention
    from minibert.objectives import MaskedLanguageModel
    from minibert.relatives import xlnet
    from minibert.relatives.parts.permutation import PermutationLanguageModel, PermutationLM, query_mask
    from minibert.relatives.parts.transformer_xl import TransformerXlAttention, WordEmbeddings

    lesson.show("The difference as a diff", title=False)
    show_diff(
        [
            CodeChange(
                _("The objective: nothing is hidden"), MaskedLanguageModel.corrupt, PermutationLanguageModel.corrupt
            ),
            CodeChange(_("Who may look at whom"), None, query_mask),
            CodeChange(_("Guesses come from the queries"), BertForPreTraining.forward, PermutationLM.forward),
            CodeChange(_("Scores: distances and segments"), SelfAttention.attend, TransformerXlAttention.attend),
            CodeChange(_("What a token begins as"), Embeddings.forward, WordEmbeddings.forward),
        ]
    )
    show_source(xlnet, find="RELATIVE = ", label=_("All of the relative: `minibert/relatives/xlnet.py`"))
    lesson.show("Paper and code")
