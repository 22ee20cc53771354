"""Speed, measured on this machine: models of the same size, with a block per layer or one shared block."""

import streamlit as st

from sections.albert.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

SIZES = {"hidden_size": 256, "num_hidden_layers": 8, "num_attention_heads": 4, "intermediate_size": 1024}
VOCABULARY = 8_192


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.costs import speed

    lesson.show("Seconds", title=False)
    if st.button(_("Measure here"), key="measure", type="primary", icon=":material/timer:"):
        st.session_state["albert-measured"] = True
    if st.session_state.get("albert-measured"):
        with st.spinner(_("Both read and learn, in turns …")):
            costs = _measured()
        bert, albert = costs["bert"], costs["albert"]
        words = _(
            "**{times:.1f} times fewer weights; an answer takes {answer:.0%} of BERT’s time, a step {step:.0%}.**"
        )
        st.markdown(
            words.format(
                times=bert.weights / albert.weights, answer=albert.answer / bert.answer, step=albert.step / bert.step
            )
        )
        names = {"bert": "BERT", "narrow": _("ALBERT, only E narrow"), "albert": "ALBERT"}
        st.table(
            [
                {
                    _("model"): names[name],
                    _("weights"): f"{one.weights:,}",
                    _("weights, gradients and moments, MB"): f"{16 * one.weights / 1e6:,.0f}",
                    _("million FLOP an answer"): f"{one.flops / 1e6:,.0f}",
                    _("an answer, ms"): f"{1_000 * one.answer:.1f}",
                    _("a step, ms"): f"{1_000 * one.step:.1f}",
                }
                for name, one in costs.items()
            ]
        )
        st.caption(
            _(
                "Random weights, L = 8, H = 256, V = 8,192, E = 64; 4 rows of 64 tokens; the best of 5, by the clock "
                "of this server, once for everyone."
            )
        )
    show_source(speed.measure)


@st.cache_resource(show_spinner=False)
def _measured():
    from minibert.config import BertConfig
    from minibert.inside.costs.speed import measure
    from minibert.relatives.albert import AlbertConfig

    shape = {**SIZES, "max_position_embeddings": 64}
    return measure(
        {
            "bert": BertConfig(
                VOCABULARY, **shape, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, hidden_act="gelu_new"
            ),
            "narrow": AlbertConfig(VOCABULARY, **shape, embedding_size=64, shared="none"),
            "albert": AlbertConfig(VOCABULARY, **shape, embedding_size=64),
        }
    )
