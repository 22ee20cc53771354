"""What became of it: XLNet's sizes, counted."""

import streamlit as st

from sections.xlnet.subject import Inputs
from ui.lesson import Lesson
from ui.translations import _

PIECES = 32_000


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.config import BertConfig
    from minibert.count import parameters
    from minibert.relatives import shape_of
    from minibert.relatives.xlnet import XlnetConfig

    lesson.show("What became of it", title=False)
    rows = []
    for name in ("base", "large"):
        xlnet, bert = (parameters(shape_of(kind.preset(name, vocab_size=PIECES))) for kind in (XlnetConfig, BertConfig))
        rows.append(
            {
                _("model"): f"XLNet-{name}",
                _("encoder"): f"{xlnet.encoder:,}",
                _("BERT’s, as many pieces"): f"{bert.encoder:,}",
                _("of it for distances and segments"): f"{xlnet.of('block.attn.distance', 'block.attn.segment'):,}",
            }
        )
    st.markdown("### " + _("Sizes, counted"))
    st.table(rows)
    words = _("Counted by minibert.count, with {n:,} pieces; the tests hold the weights against transformers’.")
    st.caption(words.format(n=PIECES))
