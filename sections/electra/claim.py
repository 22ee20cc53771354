"""The paper's claim beside the recorded results, ELECTRA's lines against BERT's, and the published sizes."""

import streamlit as st

from sections.electra.subject import Inputs
from ui.claim import show_claim
from ui.code_diff import CodeChange, show_diff
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    show_claim("electra", "who_is_meant", _("whom a pronoun means, F1"))
    lesson.show("Why small models may disagree")


def show_diff_to_bert(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.model import MlmHead
    from minibert.objectives import MaskedLanguageModel
    from minibert.relatives import electra
    from minibert.relatives.parts import replaced_token_detection as replaced_tokens
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
    show_source(replaced_tokens.sample, label=_("How the generator samples"))


def show_published(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.config import BertConfig
    from minibert.count import parameters
    from minibert.relatives import shape_of
    from minibert.relatives.electra import ElectraConfig

    lesson.show("What became of it", title=False)
    rows = []
    for name in ("small", "base", "large"):
        config = ElectraConfig.preset(name)
        generator = config.generator()
        rows.append(
            {
                _("model"): f"ELECTRA-{name}",
                "L": config.num_hidden_layers,
                "H": config.hidden_size,
                "E": config.embedding_size,
                _("generator’s H"): generator.hidden_size,
                _("encoder, kept"): f"{parameters(shape_of(config)).encoder:,}",
                _("BERT’s of that name"): f"{parameters(BertConfig.preset(name)).encoder:,}",
            }
        )
    st.markdown("### " + _("Sizes, counted"))
    st.table(rows)
    st.caption(
        _(
            "Counted by minibert.count. ELECTRA’s sizes are those of table 6 of its paper; BERT-small is Turc et "
            "al.’s, with 4 layers of 512."
        )
    )
