"""The diff: ELECTRA's lines against BERT's."""

from sections.electra.subject import Inputs
from ui.code_diff import CodeChange, show_diff
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.model import MlmHead
    from minibert.objectives import MaskedLanguageModel
    from minibert.relatives import electra
    from minibert.relatives.parts import replaced_token_detection
    from minibert.relatives.parts.replaced_token_detection import Discriminator, NetworkPair, ReplacedTokens

    lesson.show("The difference as a diff", title=False)
    show_diff(
        [
            CodeChange(_("What is answered"), MlmHead, Discriminator),
            CodeChange(_("What is hidden"), MaskedLanguageModel.corrupt, ReplacedTokens.corrupt),
            CodeChange(_("What is counted"), MaskedLanguageModel.prediction_stats, ReplacedTokens.prediction_stats),
            CodeChange(_("Two networks in place of one"), None, NetworkPair),
        ]
    )
    show_source(electra, find="RELATIVE = ", label=_("All of the relative: `minibert/relatives/electra.py`"))
    show_source(replaced_token_detection.sample, label=_("How the generator samples"))
