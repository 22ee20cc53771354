"""What became of it: NEZHA's sizes, counted, and where relative positions are used today."""

import streamlit as st

from sections.nezha.subject import Inputs
from ui.lesson import Lesson
from ui.translations import _

CHINESE = 21_128  # vocabulary size, that of Chinese BERT


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.config import BertConfig
    from minibert.count import parameters
    from minibert.relatives import shape_of
    from minibert.relatives.nezha import NezhaConfig

    lesson.show("What became of it", title=False)
    rows = []
    for name in ("base", "large"):
        configs = (kind.preset(name, vocab_size=CHINESE) for kind in (NezhaConfig, BertConfig))
        nezha, bert = (parameters(shape_of(config)).encoder for config in configs)
        rows.append(
            {
                _("model"): f"NEZHA-{name}",
                _("encoder"): f"{nezha:,}",
                _("BERT’s, Chinese"): f"{bert:,}",
                _("fewer, its positions"): f"{bert - nezha:,}",
            }
        )
    st.markdown("### " + _("Sizes, counted"))
    st.table(rows)
    st.caption(_("Counted by minibert.count, with the {n:,} pieces of BERT’s Chinese vocabulary.").format(n=CHINESE))
