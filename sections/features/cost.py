"""How many weights a task trains, and how many it stores."""

import streamlit as st

from minibert.experiments.comparisons import COMPARISONS
from sections.features.layers import BYTES
from sections.features.subject import Inputs, arm_names, sizes_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    _storage()
    lesson.show("What it costs")


@st.fragment
def _storage() -> None:
    from plots.features import storage

    left, right = st.columns(2, gap="medium")
    with left:
        tasks = st.slider(_("Tasks that share one BERT"), 1, 50, 10, key="tasks", bind="query-params")
    words = arm_names("features")
    heads = [arm for arm in words if COMPARISONS["features"].values(arm).get("freeze") == "all"]
    with right:
        head = st.selectbox(_("Head of a task"), heads, heads.index("last"), format_func=words.get, key="head")
    whole, frozen = sizes_of("features", "fine-tuned"), sizes_of("features", head)
    body = whole.whole - whole.head
    numbers = range(1, 51)
    tuned = [n * whole.whole * BYTES / 1e6 for n in numbers]
    read = [(body + n * frozen.head) * BYTES / 1e6 for n in numbers]
    names = (_("fine-tuned: a model a task"), _("features: one model, a head a task"))
    fig = storage(numbers, dict(zip(names, (tuned, read), strict=True)), tasks, (_("tasks"), _("megabytes kept")))
    alt = _(
        "{n} tasks: {tuned:,.0f} MB of fine-tuned models, against {read:,.0f} MB for one model and {n} heads. BERT "
        "here has {body:,} numbers, this head {head:,}."
    ).format(n=tasks, tuned=tuned[tasks - 1], read=read[tasks - 1], body=body, head=frozen.head)
    figure(fig, alt, key="storage")
    st.markdown(f"**{alt}**", width=820)
