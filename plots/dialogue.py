"""Figures of DIET: the best tag path of a sentence, transition scores of the tags, and scores over training time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from plots.answers import probability_bars
from plots.attention import literal
from plots.theme import DIVERGING, FONT_SIZE, PALETTE, SEQUENTIAL, SMALL, VERMILION

ROW = 30  # pixels
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")


def intents(names: Sequence[str], probs: Sequence[float], axis: str, title: str) -> go.Figure:
    """One bar per intent, the first in colour."""
    fig = probability_bars(names, probs, {0}, title=axis)
    fig.update_xaxes(range=[0, 1.3])  # a phone has room for the number beside a full bar
    return fig.update_layout(title={"text": literal(title)})


def tag_path(
    words: Sequence[str], tags: Sequence[str], probs: np.ndarray, path: Sequence[int], title: str
) -> go.Figure:
    """One column per word, one row per tag: probabilities, and the likeliest path. probs: (T, K) · path: (T,)"""
    columns = list(range(len(words)))
    fig = go.Figure(
        go.Heatmap(
            z=np.asarray(probs).T.tolist(),
            x=columns,
            y=list(range(len(tags))),
            zmin=0,
            zmax=1,
            colorscale=SEQUENTIAL,
            xgap=2,
            ygap=2,
            colorbar={"tickformat": ".0%", "thickness": 14},
            customdata=[[f"{literal(word)}: {literal(tag)}" for word in words] for tag in tags],
            hovertemplate="%{customdata} %{z:.1%}<extra></extra>",
        )
    )
    fig.add_scatter(
        x=columns,
        y=list(path),
        mode="lines+markers",
        line={"color": VERMILION, "width": 4},
        showlegend=False,
        marker={"size": 13, "color": VERMILION, "line": {"width": 2, "color": "#FFFFFF"}},
        hoverinfo="skip",
    )
    fig.update_xaxes(
        tickvals=columns, ticktext=[literal(word) for word in words], side="top", showgrid=False, tickangle=-35
    )
    fig.update_yaxes(
        tickvals=list(range(len(tags))),
        ticktext=list(map(literal, tags)),
        autorange="reversed",
        showgrid=False,
        tickfont={"size": SMALL},
    )
    fig.update_layout(height=170 + ROW * len(tags), title={"text": literal(title)}, margin={"t": 110})
    return fig


def step_matrix(tags: Sequence[str], steps: np.ndarray, axes: tuple[str, str], title: str) -> go.Figure:
    """Transition scores. steps: (K, K), row: a tag, column: the next tag; negative scores discourage the transition."""
    most = float(np.abs(steps).max()) or 1.0
    names = list(map(literal, tags))
    fig = go.Figure(
        go.Heatmap(
            z=np.asarray(steps).tolist(),
            x=names,
            y=names,
            zmin=-most,
            zmax=most,
            colorscale=DIVERGING,
            xgap=1,
            ygap=1,
            colorbar={"thickness": 14},
            hovertemplate="%{y} → %{x}: %{z:.2f}<extra></extra>",
        )
    )
    fig.update_xaxes(title_text=axes[1], type="category", tickangle=-45, tickfont={"size": SMALL}, showgrid=False)
    fig.update_yaxes(
        title_text=axes[0], type="category", autorange="reversed", tickfont={"size": SMALL}, showgrid=False
    )
    fig.update_layout(height=240 + 24 * len(tags), title={"text": literal(title)})
    return fig


def over_seconds(curves: Mapping[str, Sequence[tuple[float, float]]], axes: tuple[str, str], title: str) -> go.Figure:
    """One line per run: a score in [0, 1] over seconds of training."""
    fig = go.Figure()
    for number, (name, points) in enumerate(curves.items()):
        fig.add_scatter(
            x=[x for x, _ in points],
            y=[y for _, y in points],
            mode="lines+markers",
            name=literal(name),
            line={"color": PALETTE[number % len(PALETTE)], "width": 3},
            marker={"size": 9, "symbol": SYMBOLS[number % len(SYMBOLS)]},
            hovertemplate="%{x:.1f} s: %{y:.1%}<extra></extra>",
        )
    fig.update_xaxes(title_text=axes[0], rangemode="tozero")
    fig.update_yaxes(title_text=axes[1], range=[0, 1.02], tickformat=".0%")
    fig.update_layout(
        height=400,
        showlegend=True,
        title={"text": literal(title)},
        margin={"t": 84},
        font={"size": FONT_SIZE},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    return fig


def share_matrix(names: Sequence[str], probs: np.ndarray, title: str) -> go.Figure:
    """Attention: rows attend to columns; each row sums to 1 if no column is left out. probs: (T, T)"""
    places = list(range(len(names)))
    shown = list(map(literal, names))
    fig = go.Figure(
        go.Heatmap(
            z=np.asarray(probs).tolist(),
            x=places,
            y=places,
            zmin=0,
            zmax=1,
            colorscale=SEQUENTIAL,
            xgap=1,
            ygap=1,
            colorbar={"tickformat": ".0%", "thickness": 14},
            customdata=[[f"{a} → {b}" for b in shown] for a in shown],
            hovertemplate="%{customdata}: %{z:.1%}<extra></extra>",
        )
    )
    fig.update_xaxes(tickvals=places, ticktext=shown, side="top", showgrid=False, tickangle=-35)
    fig.update_yaxes(tickvals=places, ticktext=shown, autorange="reversed", showgrid=False)
    fig.update_layout(height=170 + ROW * len(names), title={"text": literal(title)}, margin={"t": 110})
    return fig
