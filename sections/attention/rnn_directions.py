"""Two directions: the prediction at each word from its left context, from its right, and from both."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from sections.attention.rnn_reader import Reading, networks, read
from sections.attention.subject import Inputs
from ui.figures import figure
from ui.inputs import numbered
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

Column = tuple[list[float], list[str]]  # per word: probability of the true word, top prediction


@st.cache_data(show_spinner=False, max_entries=128)
def expected(ids: tuple[int, ...]) -> tuple[Column, Column, Column]:
    """At each word between [CLS] and [SEP]: the forward LSTM, the backward one, BERT with that word masked."""
    import torch

    from minibert.model import Batch

    lm, bert, tokenizer = networks()
    row = torch.tensor(ids)
    places = torch.arange(1, len(ids) - 1)
    with torch.no_grad():
        forwards, backwards = (logits[0, places].softmax(-1) for logits in lm.expected(Batch(row[None])))
        hidden = row.repeat(len(places), 1)
        hidden[torch.arange(len(places)), places] = tokenizer.mask_id
        both = bert(Batch(hidden)).mlm_logits[torch.arange(len(places)), places].softmax(-1)
    columns = []
    for probs in (forwards, backwards, both):  # (words, V)
        guesses = [tokenizer.vocab[i] for i in probs.argmax(-1).tolist()]
        columns.append((probs[torch.arange(len(places)), row[places]].tolist(), guesses))
    return tuple(columns)


def show(lesson: Lesson, inputs: Inputs) -> None:
    reading = read(lesson, inputs.text)
    if reading is not None:
        picture(reading)
        lesson.show("Two directions", title=False)
        from minibert.toy.recurrent import BiLm

        show_source(BiLm.states, "reverse_rows(")


def picture(reading: Reading) -> None:
    from plots.recurrent import expected_words

    tokens = [reading.tokens[place] for place in reading.words]
    columns = dict(
        zip(
            (_("from its left (LSTM →)"), _("from its right (LSTM ←)"), _("from both (BERT)")),
            expected(reading.ids),
            strict=True,
        )
    )
    right = [
        sum(guess == token for guess, token in zip(summary, tokens, strict=True)) for _p, summary in columns.values()
    ]
    title = _("Of {n} words, {left} are the first guess from the left, {right} from the right, {both} from both sides.")
    summary = title.format(n=len(tokens), left=right[0], right=right[1], both=right[2])
    figure(
        partial(expected_words, tokens, columns, _("the word that stands there"), summary),
        summary,
        "attention-rnn-directions",
        data=lambda: pd.DataFrame({name: shares for name, (shares, _said) in columns.items()}, index=numbered(tokens)),
        wide=True,
    )
