"""The published ALBERT sizes: weights and FLOPs, both counted, FLOPs relative to BERT-base."""

import streamlit as st

from sections.albert.subject import Inputs
from ui.lesson import Lesson
from ui.translations import _

SIZES = ("base", "large", "xlarge", "xxlarge")


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.config import BertConfig
    from minibert.count import flops, parameters
    from minibert.relatives import shape_of
    from minibert.relatives.albert import AlbertConfig

    lesson.show("What became of it", title=False)
    base = flops(BertConfig.preset("base"), 1, 128, 0, training=False).total
    rows = []
    for name in SIZES:
        config = AlbertConfig.preset(name)
        work = flops(shape_of(config), 1, 128, 0, training=False).total / base
        rows.append(
            {
                _("model"): f"ALBERT-{name}",
                "L": config.num_hidden_layers,
                "H": config.hidden_size,
                "E": config.embedding_size,
                _("weights, with pooler"): f"{parameters(shape_of(config)).with_pooler:,}",
                _("arithmetic of an answer, BERT-base = 1"): f"{work:.1f}",
            }
        )
    st.markdown("### " + _("Sizes, counted"))
    st.table(rows)
    st.caption(
        _(
            "Counted by minibert.count; the tests hold the weights against `AlbertModel` of transformers. The paper "
            "rounds them to 12, 18, 60 and 235 million (table 1). The arithmetic is of 128 tokens."
        )
    )
