"""Why 512? What length costs."""

import streamlit as st

from sections.input.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _

LENGTHS = (64, 128, 256, 512, 768, 1024, 1536, 2048)


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """Memory to train BERT-base by length, with attention computed explicitly and fused."""
    from minibert.config import BertConfig
    from minibert.count import memory
    from plots.embeddings_sum import cost_of_length

    rows = st.slider(_("Rows in a batch"), 1, 64, 16, key="rows")
    base = BertConfig.preset("base", max_position_embeddings=max(LENGTHS))
    kinds = {_("attention written out"): "explicit", _("fused attention"): "fused"}
    series = {
        name: [memory(base, rows, length, precision="bf16", attention=kind).peak / 2**30 for length in LENGTHS]
        for name, kind in kinds.items()
    }
    at_limit = {name: values[LENGTHS.index(512)] for name, values in series.items()}
    doubled = {name: values[LENGTHS.index(1024)] / values[LENGTHS.index(512)] for name, values in series.items()}
    words = "; ".join(
        _("{name}: {gib:.1f} GiB at 512 tokens, {times:.2f} times that at 1,024").format(
            name=name, gib=at_limit[name], times=doubled[name]
        )
        for name in series
    )
    alt = _("Estimated memory to pre-train BERT-base in bf16, by tokens in a row. {words}.").format(words=words)
    titles = (_("tokens T"), _("GiB to train"))
    title = _(
        "Twice as long, {times:.1f} times the memory where attention is written out, {fused:.1f} where fused"
    ).format(times=doubled[_("attention written out")], fused=doubled[_("fused attention")])
    table = [{"T": t, **{name: f"{values[i]:.2f}" for name, values in series.items()}} for i, t in enumerate(LENGTHS)]
    figure(cost_of_length(LENGTHS, series, 512, titles, title), alt, key="length", data=table)
    lesson.show("Why 512?", title=False)
