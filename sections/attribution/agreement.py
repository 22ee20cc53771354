"""Do they agree? The methods' rankings of the words against each other."""

import numpy as np
import streamlit as st

from sections.attribution import subject
from sections.attribution.subject import Inputs, column_names, method_names
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.explanations.attribution import agreement as correlations
    from plots.attribution import agreement_matrix

    matrix = correlations(subject.values_of(inputs))
    names, short = list(method_names().values()), list(column_names().values())
    places = [(i, j) for i in range(len(names)) for j in range(i)]
    pairs = [_("{a} and {b}: {rho:.2f}").format(a=names[i], b=names[j], rho=matrix[i, j]) for i, j in places]
    known = [place for place in places if not np.isnan(matrix[place])]
    title = _("Too few words for a rank correlation")
    if known:
        i, j = min(known, key=lambda place: matrix[place])
        title = _("Furthest apart: {a} and {b}, ρ = {rho:.2f}").format(a=names[i], b=names[j], rho=matrix[i, j])
    with st.container(key="wide-agreement", width=760):
        figure(
            agreement_matrix(matrix, short, title),
            _("Rank correlations. {pairs}.").format(pairs="; ".join(pairs)),
            "agreement",
            data=lambda: [
                {_("method"): name, **dict(zip(names, row, strict=True))}
                for name, row in zip(names, matrix.tolist(), strict=True)
            ],
        )
    lesson.show("Do they agree?")
