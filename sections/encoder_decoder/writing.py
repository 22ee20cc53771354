"""BERT made to write: how it continues a sentence, and why no sentence comes of it."""

from functools import partial

import pandas as pd
import streamlit as st

from sections.encoder_decoder.subject import DRAWN, Inputs, finding, two_words_needed
from ui.figures import figure
from ui.inputs import choice, numbered, pick
from ui.lesson import Lesson
from ui.model_cache import load, version_of
from ui.model_widgets import warn_untrained
from ui.source import show_source
from ui.text import literal, show_tokens, visible
from ui.translations import _

MOST_IN_TURN = 40  # tokens of a text that are filled in one after the other


@st.cache_data(show_spinner=False, max_entries=200)
def written(model: str, version: int, start: tuple[int, ...], count: int, after: str) -> list:
    """The steps of minibert.inside.predictions.generation.write; after: what follows the blank."""
    from minibert.inside.predictions.generation import write

    loaded = load(model)
    stop = [loaded.tokenizer.ids["."]] if after == "stop" and "." in loaded.tokenizer.ids else []
    return list(write(loaded.model, loaded.tokenizer, start, count, stop, blanks=5 if after == "blanks" else 1))


@st.cache_data(show_spinner=False, max_entries=200)
def both_orders(model: str, version: int, ids: tuple[int, ...]) -> tuple[list[float], list[float]]:
    """ln P of each token, in text order: filled in from the left, and from the right."""
    from minibert.inside.predictions.generation import chain

    loaded = load(model)
    forward = list(range(1, len(ids) - 1))
    there, back = (chain(loaded.model, ids, order, loaded.tokenizer.mask_id) for order in (forward, forward[::-1]))
    return there, back[::-1]


@st.fragment
def show(lesson: Lesson, inputs: Inputs) -> None:
    """What BERT writes, and the two reasons why it fails."""
    from minibert.inside.predictions.generation import write

    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = {"nothing": _("nothing"), "stop": _("a full stop"), "blanks": _("four more blanks")}
        after = choice("after", _("Behind the blank stands"), names)
        count = st.slider(_("Words to write"), 1, 12, 8, key="write", bind="query-params", width=240)
    warn_untrained(inputs.model)
    _shown(inputs, count, after)
    lesson.show("Can BERT write?", title=False)
    show_source(write)
    lesson.show("Why it does not", level=3)
    whole = load(inputs.model).tokenizer.encode(inputs.text, max_length=load(inputs.model).config.longest).ids
    ids = whole if len(whole) <= MOST_IN_TURN else [*whole[: MOST_IN_TURN - 1], whole[-1]]
    if len(ids) < len(whole):
        said = _("Below, the first {n} tokens only: each is filled in on its own, twice.")
        st.caption(said.format(n=len(ids) - 2))
    if len(ids) < 4:
        two_words_needed()
    else:
        _orders(lesson, inputs.model, ids)
        _views(lesson, inputs.model, ids)
    lesson.show("What remains")


def _shown(inputs: Inputs, count: int, after: str) -> None:
    """The words, and below them each step."""
    from minibert.text.characters import is_punctuation

    loaded = load(inputs.model)
    vocab = loaded.tokenizer.vocab
    start = loaded.tokenizer.encode(inputs.text, max_length=loaded.config.longest - 14).ids[1:-1]  # 12 words fit behind
    while start and vocab[start[-1]] in ".!?…":
        start.pop()
    steps = written(inputs.model, version_of(inputs.model), tuple(start), count, after)
    new = [step.chosen for step in steps]
    ends = sum(all(map(is_punctuation, vocab[i])) for i in new)
    finding(
        _(
            "Of {n} tokens that it puts behind your words {ends} are punctuation; it uses {different} different ones"
        ).format(n=len(new), different=len(set(new)), ends=ends)
    )
    show_tokens(
        [vocab[i] for i in [*start, *new]],
        kinds=["plain"] * len(start) + ["changed"] * len(new),
        label=_("Your words, and what BERT has put behind them"),
    )
    table = {
        _("it reads"): [visible(" ".join(vocab[i] for i in step.ids), spaces=False) for step in steps],
        _("its guesses for the first blank"): [
            _(", ").join(f"{visible(vocab[i], spaces=False)} {p:.1%}" for i, p in step.guesses[:3]) for step in steps
        ],
    }
    with st.expander(_("Step by step"), icon=":material/format_list_numbered:"):
        st.dataframe(pd.DataFrame(table, index=range(1, len(steps) + 1)))


def _orders(lesson: Lesson, model: str, ids: list[int]) -> None:
    import numpy as np

    from minibert.inside.predictions.generation import chain
    from plots.attention import compared_words, number

    loaded = load(model)
    lesson.show("No left-to-right probability", level=3)
    there, back = both_orders(model, version_of(model), tuple(ids))
    names = (_("from the left"), _("from the right"))
    tokens = [visible(loaded.tokenizer.vocab[i]) for i in ids[1:-1]]
    times = np.exp(abs(sum(there) - sum(back)))
    finding(
        _("The same sentence, filled in from left or right: one “probability” is {times} times the other").format(
            times=f"{times:,.0f}" if times >= 10 else f"{times:.1f}"
        )
    )
    count = min(len(tokens), DRAWN)
    left, right = st.columns([3, 2], gap="large")
    with left:
        if count < len(tokens):
            st.caption(_("All {n} tokens are counted, the first {shown} drawn.").format(n=len(tokens), shown=count))
        figure(
            partial(
                compared_words,
                numbered(tokens)[:count],
                np.exp(there)[:count],
                np.exp(back)[:count],
                names,
                height=110 + 50 * count,
            ),
            _("Probability of each token when they are filled in from the left and from the right: {words}.").format(
                words=_(", ").join(
                    f"{token} {np.exp(a):.1%}, {np.exp(b):.1%}" for token, a, b in zip(tokens, there, back, strict=True)
                )
            ),
            "ed-orders",
            data=lambda: pd.DataFrame({_("token"): tokens, names[0]: np.exp(there), names[1]: np.exp(back)}),
        )
    with right:
        st.metric(_("ln P, from the left"), number(sum(there)))
        st.metric(_("ln P, from the right"), number(sum(back)))
    show_source(chain)


def _share(p: float) -> str:
    return f"{p:.2%}" if p >= 0.0001 else "<\u00a00.01%"


def _views(lesson: Lesson, model: str, ids: list[int]) -> None:
    from minibert.inside.predictions.generation import views
    from plots.encoder_decoder import next_words

    lesson.show("A word that sees itself", level=3)
    loaded = load(model)
    tokens = [visible(loaded.tokenizer.vocab[i]) for i in ids[1:-1]]
    letters = [i for i, token in enumerate(tokens) if any(map(str.isalnum, token))] or [0]
    with st.container(width=300):
        position = 1 + pick("word", _("Word"), numbered(tokens), default=letters[len(letters) // 2])
    probs = views(loaded.model, ids, position, loaded.tokenizer.mask_id)
    rows = {
        _("it stands there"): probs.shown,
        _("hidden, seen from both sides"): probs.both,
        _("hidden, and all that follows too"): probs.left,
        _("hidden, and the sentence ends there"): probs.cut,
    }
    details = _("How likely BERT finds {word}: {rows}.").format(
        word=tokens[position - 1], rows=_("; ").join(f"{name} {p:.1%}" for name, p in rows.items())
    )
    finding(
        _("“{word}”: {shown} where it stands, {both} hidden, {cut} where the sentence ends at the blank").format(
            word=literal(tokens[position - 1]),
            shown=_share(probs.shown),
            both=_share(probs.both),
            cut=_share(probs.cut),
        )
    )
    left, right = st.columns([1, 1], gap="large", vertical_alignment="center")
    with left:
        st.markdown("\n".join(f"{n}. {name}{_(': ')}**{_share(p)}**" for n, (name, p) in enumerate(rows.items(), 1)))
    with right:
        figure(partial(next_words, [str(n) for n in range(1, 5)], list(rows.values())), details, "ed-views")
