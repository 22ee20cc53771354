"""Each stage in one sentence, with this text's numbers and a link to its lesson."""

import streamlit as st

from ui.lesson import Lesson
from ui.model_cache import outline_of
from ui.model_registry import title_of
from ui.navigation import link_to
from ui.stages import stages
from ui.through.passage import Passage, PassageState
from ui.through.picture import lesson_at
from ui.translations import _


def show(lesson: Lesson, inputs: PassageState) -> None:
    lesson.show("What is drawn", title=False)
    if inputs.passage is None:
        return
    name = st.session_state.get("model", inputs.passage.models[-1])
    st.markdown(_("In numbers, for this text and **{model}**:").format(model=title_of(name)))
    with st.grid(4, min_column_width=210, key="stages") as grid:
        for stage, words in zip(stages(), sizes(name, inputs.passage), strict=True):
            with grid.container(border=True, height="stretch", key=f"stop-{stage.name}"):
                _page, query = lesson_at({"to": stage.name, "model": name}, inputs.passage)
                link_to(stage.page, label=stage.title, query_params=query)
                st.markdown(words)
    lesson.show("What is not drawn")


def sizes(name: str, passage: Passage) -> list[str]:
    """The sizes at each stage, one sentence each."""
    outline = outline_of(name)
    config, encoding = outline.config, outline.tokenizer.encode(passage.hidden, passage.second or None)
    count, layers, heads = len(encoding), config.num_hidden_layers, config.num_attention_heads
    letters = len(passage.text) + len(passage.second)
    return [
        _("**{n}** characters, spaces among them.").format(n=letters),
        _("**{n}** pieces, of a vocabulary of {vocab:,}.").format(n=count, vocab=config.vocab_size),
        _("Three of **{hidden}** numbers a piece, added.").format(hidden=config.hidden_size),
        _("**{layers} × {heads}** heads; together {all:,} attention weights.").format(
            layers=layers, heads=heads, all=layers * heads * count * count
        ),
        _("In each block {hidden} → **{inner:,}** → {hidden} numbers, at each piece.").format(
            hidden=config.hidden_size, inner=config.intermediate_size
        ),
        _("A probability for each of **{vocab:,}** entries.").format(vocab=config.vocab_size),
        _("**Two** numbers: it follows, it does not.") if passage.second else _("A second sentence is needed."),
        _("No layer for it **yet**."),
    ]
