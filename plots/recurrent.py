"""Figures of a recurrent network: its gates at each word, the remaining influence of words, predicted words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal, token_label, token_ticks
from plots.grammar import ATTENTION
from plots.marks import LEGEND_ABOVE, add_line
from plots.theme import BLUE, FONT_SIZE, GREEN, PINK, SMALL, VERMILION, add_notes, titled

MANY = 20  # words: with more, numbers in cells would overlap
LOOKS = (
    (VERMILION, "solid", "diamond"),
    (BLUE, "dash", "circle"),
    (GREEN, "dot", "square"),
    (PINK, "longdash", "triangle-up"),
)


def written(share: float) -> dict:
    """Annotation style for a cell of this value: dark text on light colours of ATTENTION, else light text."""
    return {"showarrow": False, "font": {"size": SMALL, "color": "#111111" if share > 0.48 else "#FFFFFF"}}


def gates(
    tokens: Sequence[str], means: Mapping[str, Sequence[float]], numbers, numbers_of: str, title: str = ""
) -> go.Figure:
    """Above: openness of each gate at each word, as the mean over its H units; below: the H units of one gate.

    means: gate → (T,), 0 … 1 or NaN, the first on top · numbers: (T, H) · numbers_of: axis title of the units.
    """
    values = np.asarray(list(means.values()), dtype=float)  # (gates, T)
    numbers = np.asarray(numbers, dtype=float)
    order = np.nanmean(numbers, 0).argsort()  # the most open on top, which plotly draws last
    fig = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.4, 0.6], vertical_spacing=0.05)
    labels = [token_label(token) for token in tokens]
    fig.add_trace(
        go.Heatmap(
            z=values,
            y=list(range(len(means))),
            xgap=2,
            ygap=2,
            showscale=True,
            customdata=[labels] * len(means),
            hovertemplate="%{customdata}: <b>%{z:.3f}</b><extra></extra>",
            colorbar={"thickness": 12, "outlinewidth": 0, "tickvals": [0, 0.5, 1], "tickfont": {"size": SMALL}},
            **ATTENTION,
        ),
        row=1,
        col=1,
    )
    fig.add_trace(
        go.Heatmap(
            z=numbers.T[order],
            xgap=2,
            showscale=False,
            customdata=[labels] * len(order),
            text=[[str(unit + 1)] * len(tokens) for unit in order],
            hovertemplate="%{customdata}, %{text}: <b>%{z:.3f}</b><extra></extra>",
            **ATTENTION,
        ),
        row=2,
        col=1,
    )
    if len(tokens) <= MANY:
        cells, axes = np.ndindex(values.shape), {"xref": "x", "yref": "y"}  # of the first row
        add_notes(
            fig,
            (
                {"x": x, "y": y, "text": f"{values[y, x]:.2f}"} | written(values[y, x]) | axes
                for y, x in cells
                if not np.isnan(values[y, x])
            ),
        )
    fig.update_yaxes(
        tickvals=list(range(len(means))),
        ticktext=[literal(name) for name in means],
        autorange="reversed",
        showgrid=False,
        ticks="",
        row=1,
        col=1,
    )
    fig.update_yaxes(tickvals=[], showgrid=False, title={"text": literal(numbers_of)}, row=2, col=1)
    fig.update_xaxes(**token_ticks(tokens), tickangle=-45, row=2, col=1)
    fig.update_xaxes(showgrid=False, ticks="", row=1, col=1)
    fig.update_layout(height=430, margin={"t": 12, "b": 8})
    return titled(fig, title)


def left_of_words(
    tokens: Sequence[str], lines: Mapping[str, Sequence[float]], axes: tuple[str, str], title: str = ""
) -> go.Figure:
    """Remaining influence of each word on the final state. lines: model → (T,), None for positions left out."""
    fig = go.Figure()
    hover = {
        "customdata": [token_label(token) for token in tokens],
        "hovertemplate": "%{customdata}: <b>%{y:.3f}</b><extra>%{fullData.name}</extra>",
    }
    for (name, values), look in zip(lines.items(), LOOKS, strict=False):
        add_line(fig, range(len(tokens)), values, name, look, width=4, size=11, cliponaxis=False, **hover)
    fig.update_xaxes(
        **token_ticks(tokens), tickangle=-45, range=[-0.5, len(tokens) - 0.5], title={"text": literal(axes[0])}
    )
    fig.update_yaxes(title={"text": literal(axes[1])}, rangemode="tozero")
    fig.update_layout(height=360, legend=LEGEND_ABOVE, margin={"t": 44, "b": 8})
    return titled(fig, title)


def expected_words(
    tokens: Sequence[str], columns: Mapping[str, tuple[Sequence[float], Sequence[str]]], axis: str, title: str = ""
) -> go.Figure:
    """One row per word, one column per model: the colour shows the probability of the true word, the text the model's
    prediction. columns: model → (probabilities (T,), top predictions (T,)) · axis: title of the word axis."""
    shares = np.asarray([shares for shares, _guesses in columns.values()], dtype=float).T  # (T, columns)
    guesses = [
        [token_label(guess) for guess in row] for row in zip(*(g for _shares, g in columns.values()), strict=True)
    ]
    fig = go.Figure(
        go.Heatmap(
            z=shares,
            xgap=3,
            ygap=2,
            text=guesses,
            hovertemplate="%{text}: <b>%{z:.3f}</b><extra></extra>",
            colorbar={"thickness": 12, "outlinewidth": 0, "tickvals": [0, 0.5, 1], "tickfont": {"size": SMALL}},
            **ATTENTION,
        )
    )
    notes = []
    for y, row in enumerate(guesses):
        for x, text in enumerate(row):
            label = f"{text} · {shares[y, x]:.0%}"
            right = row[x] == token_label(tokens[y])
            notes.append({"x": x, "y": y, "text": f"<b>{label} ✓</b>" if right else label} | written(shares[y, x]))
    add_notes(fig, notes)
    names = [literal(name) for name in columns]
    fig.update_xaxes(tickvals=list(range(len(names))), ticktext=names, side="top", showgrid=False, ticks="")
    fig.update_yaxes(**token_ticks(tokens), autorange="reversed", title={"text": literal(axis)})
    fig.update_xaxes(tickfont={"size": FONT_SIZE})
    fig.update_layout(height=90 + 27 * len(tokens), margin={"t": 40, "b": 8})
    return titled(fig, title)
