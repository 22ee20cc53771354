"""Figures of the input: three embeddings and their sum, similarity of positions, and the cost of length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.theme import DIVERGING, PALETTE, SEQUENTIAL, broken

DASHES = ("solid", "dot", "dash")


def summands(rows: Mapping[str, np.ndarray], axis: str) -> go.Figure:
    """Vectors as strips, one above the other, on one diverging colour scale. rows: name → (H,)."""
    values = np.stack(list(rows.values()))
    limit = float(np.abs(values).max()) or 1.0
    fig = go.Figure(
        go.Heatmap(
            z=values,
            y=list(rows),
            colorscale=DIVERGING,
            zmin=-limit,
            zmax=limit,
            ygap=6,
            colorbar={"thickness": 14, "tickformat": ".2f"},
            hovertemplate="%{y}, %{x}: %{z:.5f}<extra></extra>",
        )
    )
    fig.update_yaxes(autorange="reversed")
    fig.update_xaxes(title_text=axis)
    fig.update_layout(height=90 + 52 * len(rows))
    return fig


def position_similarity(
    learned: np.ndarray, fixed: np.ndarray, titles: tuple[str, str], axis: str, title: str = ""
) -> go.Figure:
    """Cosines between position embeddings. learned, fixed: (P, H) each, drawn side by side."""
    fig = make_subplots(rows=1, cols=2, subplot_titles=[broken(one, 14) for one in titles], horizontal_spacing=0.08)
    for column, table in ((1, learned), (2, fixed)):
        numbers = list(range(1, len(table) + 1))
        fig.add_heatmap(
            z=cosines(table),
            x=numbers,
            y=numbers,
            colorscale=SEQUENTIAL,
            zmin=-1,
            zmax=1,
            showscale=column == 2,
            colorbar={"thickness": 14},
            hovertemplate="%{y} – %{x}: %{z:.3f}<extra></extra>",
            row=1,
            col=column,
        )
    fig.update_xaxes(title_text=axis, constrain="domain")
    fig.update_yaxes(autorange="reversed", constrain="domain", constraintoward="top")
    fig.update_yaxes(scaleanchor="x", row=1, col=1)
    fig.update_yaxes(scaleanchor="x2", showticklabels=False, row=1, col=2)  # those of the left one
    fig.update_layout(title=title, height=450, margin_t=92)
    return fig


def cosines(table: np.ndarray) -> np.ndarray:
    """Cosines of all pairs of rows: (P, H) → (P, P)."""
    unit = table / np.linalg.norm(table, axis=1, keepdims=True).clip(1e-12)
    return unit @ unit.T


def cost_of_length(
    lengths: Sequence[int], series: Mapping[str, Sequence[float]], limit: int, titles: tuple[str, str], title: str = ""
) -> go.Figure:
    """One line per series over lengths. series: name → one value per length · limit: length with a vertical line."""
    fig = go.Figure()
    for (name, values), colour, dash in zip(series.items(), PALETTE, DASHES, strict=False):
        fig.add_scatter(
            x=list(lengths),
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 3, "dash": dash},
            marker={"size": 8},
            hovertemplate="T = %{x}: %{y:.2f}<extra></extra>",
        )
    fig.add_vline(x=limit, line={"color": "gray", "dash": "dash", "width": 1.5}, annotation_text=f"T = {limit}")
    fig.update_xaxes(title_text=titles[0], rangemode="tozero")
    fig.update_yaxes(title_text=titles[1], rangemode="tozero")
    fig.update_layout(title=title, height=400, legend={"orientation": "h", "y": -0.25, "x": 0})
    return fig
