"""Why 512, and what to keep of a longer text."""

from functools import partial

import streamlit as st

from sections.input.subject import Inputs
from ui.figures import figure
from ui.inputs import choice
from ui.lesson import Lesson
from ui.model_cache import load
from ui.source import show_source
from ui.text import show_tokens
from ui.translations import _, pgettext

LENGTHS = (64, 128, 256, 512, 768, 1024, 1536, 2048)


def show(lesson: Lesson, inputs: Inputs) -> None:
    truncation(lesson, inputs)
    cost(lesson)


@st.fragment
def cost(lesson: Lesson) -> None:
    """Memory to train BERT-base by length, with attention computed explicitly and fused."""
    from minibert.config import BertConfig
    from minibert.count import memory
    from plots.embeddings_sum import cost_of_length

    lesson.show("Why 512?")
    rows = st.slider(_("Rows in a batch"), 1, 64, 16, key="rows")
    base = BertConfig.preset("base", max_position_embeddings=max(LENGTHS))
    kinds = {_("attention written out"): "explicit", _("fused attention"): "fused"}
    series = {
        name: [memory(base, rows, length, precision="bf16", attention=kind).peak / 2**30 for length in LENGTHS]
        for name, kind in kinds.items()
    }
    at_limit = {name: values[LENGTHS.index(512)] for name, values in series.items()}
    doubled = {name: values[LENGTHS.index(1024)] / values[LENGTHS.index(512)] for name, values in series.items()}
    words = _("; ").join(
        _("{name}: {gib:.1f} GiB at 512 tokens, {times:.2f} times that at 1,024").format(
            name=name, gib=at_limit[name], times=doubled[name]
        )
        for name in series
    )
    alt = _("Estimated memory to pre-train BERT-base in bf16, by tokens in a row. {words}.").format(words=words)
    titles = (_("tokens T"), _("GiB to train BERT-base in bf16"))
    title = _(
        "Twice as long, {times:.1f} times the memory where attention is written out, {fused:.1f} where fused"
    ).format(times=doubled[_("attention written out")], fused=doubled[_("fused attention")])
    table = [{"T": t, **{name: f"{values[i]:.2f}" for name, values in series.items()}} for i, t in enumerate(LENGTHS)]
    figure(partial(cost_of_length, LENGTHS, series, 512, titles, title), alt, key="length", data=table)


STYLE = """<style>[class*="st-key-kept-"] .mb-faded bdi { background: var(--mb-struck); }</style>"""


@st.fragment
def truncation(lesson: Lesson, inputs: Inputs) -> None:
    """The tokens that a strategy keeps, the others struck out."""
    st.html(STYLE)
    from minibert.text.truncation import keep

    tokenizer = load(inputs.model).tokenizer
    names = {
        "longest_first": _("longest first"),
        "head": pgettext("of a text", "head"),
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
    kept_tokens = keep(lengths, room, how, budgets)
    for one, stay, name in zip(encoded, kept_tokens, (_("First text"), _("Second text")), strict=False):
        stays = set(stay)
        kinds = ["plain" if i in stays else "faded" for i in range(len(one.tokens))]
        st.markdown(f"**{name}**{_(': ')}" + _("{kept} of {n} tokens stay").format(kept=len(stays), n=len(one.tokens)))
        with st.container(key=f"kept-{name}"):
            show_tokens(one.tokens, kinds=kinds, limit=200)
    used = sum(map(len, kept_tokens)) + frame
    st.markdown(
        _("{total} tokens with the frame; {limit} places; **{lost} lost**, {free} left empty.").format(
            total=total, limit=limit, lost=total - used, free=limit - used
        )
    )
    lesson.show("When it is too long", title=False)
    show_source(keep, label=_("The strategies, in the running code"))
