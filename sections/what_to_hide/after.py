"""What became of it: the published sizes, counted, and the recipes of the Chinese models."""

import streamlit as st

from sections.what_to_hide.subject import Inputs
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.config import BertConfig
    from minibert.count import parameters
    from minibert.relatives import shape_of
    from minibert.relatives.roberta import RobertaConfig
    from minibert.relatives.spanbert import SpanBertConfig

    lesson.show("What became of it", title=False)
    kinds = {
        "BERT-base": BertConfig.preset("base"),
        "RoBERTa-base": RobertaConfig.preset("base"),
        "RoBERTa-large": RobertaConfig.preset("large"),
        "SpanBERT-base": SpanBertConfig.preset("base", vocab_size=28_996),
        _("BERT-wwm, MacBERT, Chinese"): BertConfig.preset("base", vocab_size=21_128),
    }
    st.markdown("### " + _("Sizes, counted"))
    rows = [
        {
            _("model"): name,
            "V": f"{config.vocab_size:,}",
            _("of them word vectors"): f"{config.vocab_size * config.hidden_size:,}",
            _("encoder with pooler"): f"{parameters(shape_of(config)).with_pooler:,}",
        }
        for name, config in kinds.items()
    ]
    st.table(rows)
    st.caption(_("Counted by minibert.count. The network is BERT’s in all of them: what grows is the vocabulary."))
    lesson.show("The Chinese recipes")
