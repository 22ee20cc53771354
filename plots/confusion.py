"""A confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from plots.theme import SEQUENTIAL, SMALL


def confusion(matrix: Sequence[Sequence[int]], labels: Sequence[str], titles: tuple[str, str]) -> go.Figure:
    """Rows: true classes, columns: predictions. titles: of the prediction axis and the truth axis."""
    largest = max(max(row) for row in matrix) or 1
    fig = go.Figure(
        go.Heatmap(
            z=matrix,
            x=list(labels),
            y=list(labels),
            colorscale=SEQUENTIAL,
            zmin=0,
            zmax=largest,
            showscale=False,
            hovertemplate="%{y} → %{x}: %{z}<extra></extra>",
            xgap=3,
            ygap=3,
            # Cell texts, because plotly makes them black or white by contrast; a theme would recolour annotations.
            texttemplate="%{z}",
            textfont={"size": 20 if len(labels) <= 6 else SMALL},
        )
    )
    fig.update_layout(height=max(280, 60 * len(labels) + 140))
    fig.update_xaxes(title_text=titles[0], type="category", side="bottom", constrain="domain")
    fig.update_yaxes(title_text=titles[1], type="category", autorange="reversed", scaleanchor="x", constrain="domain")
    return fig
