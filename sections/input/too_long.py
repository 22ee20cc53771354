"""When a text is too long: which tokens to keep."""

import streamlit as st

from sections.input.subject import Inputs
from ui.inputs import choice
from ui.lesson import Lesson
from ui.model_cache import load
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import _

STYLE = """<style>[class*="st-key-kept-"] .mb-faded bdi { text-decoration: line-through 2px; }</style>"""


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """The tokens that a strategy keeps, the others struck out."""
    st.html(STYLE)
    from minibert.text.truncation import keep

    tokenizer = load(inputs.model).tokenizer
    names = {
        "longest_first": _("longest first"),
        "head": _("head"),
        "tail": _("tail"),
        "head_tail": _("head + tail"),
        "budget": _("a budget for each"),
    }
    texts = [inputs.first] if inputs.second is None else [inputs.first, inputs.second]
    encoded = [tokenizer.encode(text, add_special=False) for text in texts]
    lengths = [len(one.ids) for one in encoded]
    frame = 1 + len(texts)
    total = sum(lengths) + frame
    left, right = st.columns([1, 2], gap="large")
    with left:
        most = max(total, frame + 2)
        limit = st.slider(
            _("Places"), frame + 1, most, value=max(frame + 1, round(0.6 * most)), key=f"places-{frame}-{most}"
        )
    with right:
        how = choice("keep", _("What to keep"), names)
    room = limit - frame
    budgets = None
    if how == "budget":
        a = (
            st.slider(_("Tokens for the first text"), 0, room, room // 3, key=f"budget-{room}")
            if len(texts) > 1
            else room
        )
        budgets = [a, room - a][: len(texts)]
    kept = keep(lengths, room, how, budgets)
    for one, stay, name in zip(encoded, kept, (_("First text"), _("Second text")), strict=False):
        stays = set(stay)
        kinds = ["plain" if i in stays else "faded" for i in range(len(one.tokens))]
        st.markdown(f"**{name}**: " + _("{kept} of {n} tokens stay").format(kept=len(stays), n=len(one.tokens)))
        with st.container(key=f"kept-{name}"):
            show_tokens(one.tokens, kinds=kinds, limit=200)
    used = sum(map(len, kept)) + frame
    st.markdown(
        _("{total} tokens with the frame; {limit} places; **{lost} lost**, {free} left empty.").format(
            total=total, limit=limit, lost=total - used, free=limit - used
        )
    )
    lesson.show("When it is too long", title=False)
    show_source(keep, label=_("The strategies, in the running code"))
