"""The answer of a model trained here, one word at a time: its input so far, its predictions, its attention."""

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from sections.encoder_decoder.subject import finding
from sections.encoder_decoder.trained import say_repeated, say_unknown, say_unreadable, trained
from ui.figures import figure
from ui.inputs import clicked, numbered, pick
from ui.lesson import Lesson
from ui.source import show_source
from ui.stepper import stepper
from ui.text import literal, show_tokens, visible
from ui.translations import _

if TYPE_CHECKING:
    from minibert.toy.seq2seq import Decoding, Trained

GUESSES = 5


@st.fragment
def show(lesson: Lesson, run, words: list[str]) -> None:
    """Greedy decoding, step by step."""
    from minibert.checkpoint import CheckpointError
    from minibert.seq2seq.decoder import greedy

    lesson.show("What it looks at")
    if not words:
        st.info(_("There is no word to read. Type a sentence above."), icon=":material/edit:")
        return
    try:
        model = trained(str(run.result))
    except CheckpointError as error:
        say_unreadable(error)
        return
    say_unknown(model, words)
    decoding = model.decode(words)
    say_repeated(model, words)
    said = decoding.said
    step = stepper("say", [literal(visible(word)) for word in said])
    layers, heads = decoding.attention("decoder.cross").shape[:2]
    left, right = st.columns(2, gap="large")
    with left:
        _read(decoding, step)
    with right:
        _next(model, decoding, step)
    names = [_("block {l}, head {h}").format(l=i // heads + 1, h=i % heads + 1) for i in range(layers * heads)]
    with st.container(width=300):
        layer, head = divmod(pick("head", _("Head"), names), heads)
    left, right = st.columns(2, gap="large")
    shown = [visible(word) for word in said]
    with left:
        st.markdown("#### " + _("Cross-attention: at your sentence"))
        _grid(decoding.attention("decoder.cross")[layer, head], shown, decoding.source, step, "ed-cross")
    with right:
        st.markdown("#### " + _("Self-attention: at its own words"))
        _grid(decoding.attention("decoder.attn")[layer, head], shown, decoding.target, step, "ed-self")
    show_source(greedy)


def _read(decoding: "Decoding", step: int) -> None:
    show_words = [visible(word, spaces=False) for word in decoding.target]
    st.markdown(_("The encoder has read, once and for all:"))
    show_tokens(decoding.source, label=_("Source"))
    st.markdown(_("The decoder has read so far; the rest is yet to be said:"))
    kinds = ["kept" if i <= step else "faded" for i in range(len(show_words))]
    show_tokens(
        [word if i <= step else "?" for i, word in enumerate(show_words)],
        kinds=kinds,
        selected=step,
        label=_("Words the decoder has read"),
    )


def _next(model: "Trained", decoding: "Decoding", step: int) -> None:
    from plots.encoder_decoder import next_words

    best = decoding.probs[step].topk(GUESSES)
    names = [visible(model.words.entries[i]) for i in best.indices.tolist()]
    probs = best.values.tolist()
    finding(_("The next word is “{word}”, {p:.1%}").format(word=literal(names[0]), p=probs[0]))
    figure(
        partial(next_words, names, probs),
        _("What comes next: {guesses}.").format(
            guesses=_(", ").join(f"{name} {p:.1%}" for name, p in zip(names, probs, strict=True))
        ),
        "ed-next",
        data=lambda: pd.DataFrame({_("word"): names, _("probability"): probs}),
    )


def _grid(probs: Any, rows: list[str], columns: list[str], step: int, key: str) -> None:
    """One row for each word written; later positions are empty."""
    from plots.encoder_decoder import grid

    values = probs.clone()
    if key == "ed-self":
        future = values.new_ones(values.shape).triu(1).bool()
        values[future] = float("nan")
    columns = [visible(word) for word in columns]
    row = probs[step]
    finding(
        _("To say “{word}” it looks at “{place}”: {share:.0%}").format(
            word=literal(rows[step]), place=literal(columns[int(row.argmax())]), share=row.max().item()
        )
    )
    figure(
        partial(
            grid, values.numpy(), rows, columns, titles=(_("looks at"), _("to say")), selected=(step, None), least=0.05
        ),
        _("To say {word} it looks at: {shares}.").format(
            word=rows[step], shares=_(", ").join(f"{c} {p:.0%}" for c, p in zip(columns, row.tolist(), strict=True))
        ),
        key,
        on_select=lambda: clicked(key, "say-step"),
        data=lambda: pd.DataFrame(values.numpy(), index=numbered(rows), columns=numbered(columns)),
    )
