"""The central picture: the desk's sentences nearest to the user's question, with their cosines."""

from functools import partial

import streamlit as st

from sections.sentence_vectors.subject import Inputs, table_of, vectors
from ui.figures import figure
from ui.page import picture
from ui.samples import questions
from ui.text import visible
from ui.translations import _

SHOWN = 8


@st.fragment
def show(inputs: Inputs) -> None:
    from minibert.inside.geometry.vectors import nearest, nearest_alike
    from plots.sentence_vectors import SearchHit, nearest_bars

    with picture():
        if not any(map(str.isalnum, inputs.text)):
            st.info(_("Type a question."), icon=":material/edit:")
            return
        with st.spinner(_("Reading {n} sentences …").format(n=len(inputs.lines))):
            table = table_of(inputs)
            query = vectors(inputs.model, inputs.pooling, (inputs.text,))[0]
        best = nearest(table, query, SHOWN)
        first = inputs.standards[best[0][0]]
        rows = [
            SearchHit(
                visible(inputs.lines[i], spaces=False), cosine, inputs.standards[i] == first and first is not None
            )
            for i, cosine in best
        ]
        meant = _("Nearest: “{line}”").format(line=rows[0].line)
        if first is not None:
            meant = _("The nearest standard question: “{line}”").format(line=first)
        axis = _("cosine, the nearest {k} of {n}")
        figure(
            partial(nearest_bars, rows, meant, axis.format(k=len(rows), n=len(inputs.lines))),
            _("The {k} of {n} sentences that are nearest to “{text}”. {meant}. {lines}").format(
                k=len(rows),
                n=len(inputs.lines),
                text=visible(inputs.text, spaces=False),
                meant=meant,
                lines=_("; ").join(f"{row.line} {row.cosine:.2f}" for row in rows),
            ),
            "nearest",
            data=[
                {
                    _("sentence"): inputs.lines[i],
                    _("standard question"): inputs.standards[i] or "–",
                    _("cosine"): round(cosine, 3),
                }
                for i, cosine in best
            ],
        )
    desk = questions(inputs.language)
    share = nearest_alike(table[: len(desk)], [standard for _question, standard in desk]).sum()
    words = _(
        "Blue: the same question as the nearest, by the desk’s list. If each of the desk’s {n} questions is searched "
        "among the other {others}, the nearest asks the same for {share}."
    )
    st.caption(words.format(others=len(desk) - 1, share=share, n=len(desk)))
