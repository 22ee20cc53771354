"""What became of it: the published sizes, counted, and later work on the same question."""

import streamlit as st

from sections.electra.subject import Inputs
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
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
