"""What an LSTM forgets: change one word and measure how far the final state moves; BERT beside it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from sections.attention.rnn_gates import steps
from sections.attention.rnn_reader import STORIES, Reading, networks, read
from sections.attention.subject import Inputs
from ui.figures import figure
from ui.inputs import numbered
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

if TYPE_CHECKING:
    from torch import Tensor

DRAWS = 16  # other words tried at each place
BEHIND, MOST_BEHIND = 16, 32  # appended story words: default, maximum (training rows had 64 tokens)


@st.cache_resource(show_spinner=False)
def story_words() -> tuple[int, ...]:
    """The beginning of a story that none of the networks was trained on."""
    from minibert.toy import world

    ids = networks()[2].ids
    words = [word.text for story in world.stories(3, STORIES) for word in story.words]
    return tuple(ids[word] for word in words[:MOST_BEHIND])


@st.cache_data(show_spinner=False, max_entries=128)
def left(ids: tuple[int, ...], behind: int) -> tuple[list[float], list[float], list[float], list[float]]:
    """For each word between [CLS] and [SEP], `behind` story words later: how much of it is left in the LSTM's state, in
    BERT's last vector, in the product of the forget gates, and in BERT's vector at the word's own place."""
    import torch

    from minibert.inside.relatives.recurrent import kept, moved
    from minibert.model import Batch

    lm, bert, tokenizer = networks()
    row = torch.tensor([*ids[:-1], *story_words()[:behind], ids[-1]])
    places = list(range(1, len(ids) - 1))
    others = range(5, tokenizer.vocab_size)  # no special token

    def state(rows: Tensor) -> Tensor:
        """(B, T) → (B, 2H): h and c after the last word; [SEP] is not read."""
        return torch.cat(lm.forwards(lm.token(rows[:, :-1]))[1], dim=-1)[0]

    def vector(rows: Tensor, place: int = -2) -> Tensor:
        """(B, T) → (B, H): BERT's last layer at one place, by default the last word."""
        parts = [bert.bert(Batch(part))[0][:, place] for part in rows.split(256)]
        return torch.cat(parts)

    forget = steps(tuple(row[:-1].tolist())).forget
    return (
        moved(state, row, places, others, DRAWS).tolist(),
        moved(vector, row, places, others, DRAWS).tolist(),
        kept(forget)[1 : len(ids) - 1].tolist(),
        [moved(partial(vector, place=place), row, [place], others, DRAWS).item() for place in places],
    )


def show(lesson: Lesson, inputs: Inputs) -> None:
    reading = read(lesson, inputs.text)
    if reading is not None:
        picture(reading)
        lesson.show("What it forgets", title=False)


@st.fragment
def picture(reading: Reading) -> None:
    from minibert.inside.relatives.recurrent import moved
    from plots.recurrent import left_of_words

    behind = st.slider(
        _("Words of a story that follow"), 0, MOST_BEHIND, BEHIND, 4, key="behind_it", bind="query-params"
    )
    with st.spinner(_("Measuring …")):
        lstm, bert, gates, own = left(reading.ids, behind)
    tokens = [reading.tokens[place] for place in reading.words]
    lines = {
        _("LSTM: its state"): lstm,
        _("BERT: its last vector"): bert,
        _("LSTM: what no forget gate took"): gates,
        _("BERT: the word’s own vector, in reach of all"): own,
    }
    summary = _(
        "With {n} words after the sentence, replacing “{word}” moves the LSTM’s state {lstm:.1%} as far as replacing "
        "all words, BERT’s last vector {bert:.1%}, BERT’s vector of the word itself {own:.0%}."
    ).format(n=behind, word=tokens[0], lstm=lstm[0], bert=bert[0], own=own[0])
    figure(
        partial(left_of_words, tokens, lines, (_("the word that is changed"), _("left of it at the end")), summary),
        summary,
        "attention-rnn-left",
        data=lambda: pd.DataFrame(lines, index=numbered(tokens)),
        wide=True,
    )
    show_source(moved, "far =")
