"""Figures of attention heads: the pattern of one head, the cost of removing each, and heads that find a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from plots.attention import literal
from plots.grammar import OURS, PAPER
from plots.theme import BLUE, GREY, LEGEND_ABOVE, SKY, VERMILION, add_marks, add_text, name_rows


def kind_scores(kinds: Sequence[str], scores, chance, names: tuple[str, str], *, threshold: float) -> go.Figure:
    """Scores of one head for each kind of pattern as bars, each with a mark at the score of uniform attention.

    scores, chance: (K,), NaN if nothing was counted · names: legend entries of the two.
    """
    scores, chance = np.asarray(scores, dtype=float), np.asarray(chance, dtype=float)
    best = int(np.nanargmax(scores))
    on_mark = (chance > scores - 0.02) & (chance < scores + 0.12)  # a number there would cover the mark of chance
    fig = go.Figure(
        go.Bar(
            y=list(range(len(kinds))),
            x=scores,
            orientation="h",
            name=literal(names[0]),
            marker={"color": [VERMILION if i == best and scores[i] >= threshold else BLUE for i in range(len(kinds))]},
            hovertemplate="%{x:.3f}<extra></extra>",
        )
    )
    fig.add_scatter(
        y=list(range(len(kinds))),
        x=chance,
        mode="markers",
        name=literal(names[1]),
        marker={"symbol": "line-ns", "size": 20, "line": {"width": 4, "color": GREY}},
        hovertemplate="%{x:.3f}<extra></extra>",
    )
    add_text(
        fig,
        np.where(on_mark, np.fmax(scores, chance), scores) + 0.02,
        list(range(len(kinds))),
        ["" if np.isnan(score) else f"{score:.1%}" for score in scores],
    )
    fig.add_vline(x=threshold, line={"color": GREY, "width": 2, "dash": "dot"})
    fig.update_xaxes(range=[0, 1.25], tickformat=".0%", tickvals=[0, 0.5, 1])
    fig.update_yaxes(
        tickvals=list(range(len(kinds))),
        ticktext=[literal(kind) for kind in kinds],
        autorange="reversed",
        showgrid=False,
        ticks="",
    )
    legend = LEGEND_ABOVE
    fig.update_layout(height=110 + 40 * len(kinds), bargap=0.35, legend=legend, margin={"t": 44, "b": 8})
    return fig


def ranking(
    names: Sequence[str], costs, errors, axis: str, *, selected: int | None = None, most: int | None = None
) -> go.Figure:
    """Cost of removing each head, highest first, with two standard errors. costs, errors: (N,).

    most: maximum number of heads drawn: three quarters of them the most costly, one quarter the least costly, plus the
    selected one. A click's customdata is the head's index in `names`.
    """
    costs, errors = np.asarray(costs, dtype=float), np.asarray(errors, dtype=float)
    order = np.argsort(-costs, kind="stable")
    if most is not None and len(order) > most:
        low = most // 4
        order = np.array(
            [i for rank, i in enumerate(order) if not most - low <= rank < len(order) - low or i == selected]
        )
    fig = go.Figure(
        go.Scatter(
            x=costs[order],
            y=list(range(len(order))),
            mode="markers",
            marker={
                "size": 15,
                "symbol": ["diamond" if i == selected else "square" for i in order],
                "color": [VERMILION if i == selected else BLUE for i in order],
            },
            error_x={"array": np.nan_to_num(2 * errors[order]), "thickness": 2, "width": 5, "color": GREY},
            customdata=[[int(i)] for i in order],
            text=[literal(names[i]) for i in order],
            hovertemplate="%{text}<br>%{x:+.4f}<extra></extra>",
            showlegend=False,
        )
    )
    fig.add_vline(x=0, line={"color": GREY, "width": 2})
    fig.update_xaxes(title={"text": literal(axis)}, tickformat="+.2f", nticks=6)
    fig.update_yaxes(
        tickvals=list(range(len(order))),
        ticktext=[f"<b>{literal(names[i])}</b>" if i == selected else literal(names[i]) for i in order],
        range=[len(order) - 0.4, -0.6],
        showgrid=True,
    )
    fig.update_layout(height=90 + 26 * len(order), margin={"t": 8, "b": 8})
    return fig


# Colour and symbol of our best head, the paper's, and the best rule.
FOUND_LOOKS = ((OURS, "circle"), (PAPER, "diamond"), (BLUE, "line-ns"))


@dataclass(frozen=True)
class FoundWord:
    """accuracy: how often a head finds a word, 0 … 1 · rule: accuracy of the best rule without a model · head: name."""

    head: str
    accuracy: float
    rule: float


def found_words(
    relations: Sequence[str],
    ours: Sequence[FoundWord],
    theirs: Sequence[FoundWord | None],
    names: tuple[str, str, str],
    *,
    selected: int | None = None,
) -> go.Figure:
    """One row per relation: the best head of a model, below it that of the paper's model, each as a line from the best
    rule's accuracy to the head's, styled by FOUND_LOOKS.

    names: of ours, theirs and the rule. A click's customdata is the row.
    """
    fig = go.Figure()
    pairs = ((ours, -0.2, FOUND_LOOKS[0], names[0]), (theirs, 0.2, FOUND_LOOKS[1], names[1]))
    for words, shift, (colour, symbol), name in pairs:
        rows = [(i, one) for i, one in enumerate(words) if one is not None]
        fig.add_scatter(
            x=[x for _, one in rows for x in (one.rule, one.accuracy, None)],
            y=[y for i, _ in rows for y in (i + shift, i + shift, None)],
            mode="lines",
            line={"width": 4, "color": colour},
            hoverinfo="skip",
            showlegend=False,
        )
        fig.add_scatter(
            x=[one.accuracy for _, one in rows],
            y=[i + shift for i, _ in rows],
            mode="markers",
            name=literal(name),
            marker={"symbol": symbol, "size": 14, "color": colour},
            customdata=[[i] for i, _ in rows],
            text=[literal(one.head) for _, one in rows],
            hovertemplate="%{text}: %{x:.1%}<extra></extra>",
        )
        add_text(
            fig,
            [max(one.accuracy, one.rule) + 0.04 for _, one in rows],
            [i + shift for i, _ in rows],
            [f"{one.accuracy:.0%} · {literal(one.head)}" for _, one in rows],
        )
    both = [(i + shift, one) for words, shift, *_ in pairs for i, one in enumerate(words) if one is not None]
    fig.add_scatter(
        x=[one.rule for _, one in both],
        y=[y for y, _ in both],
        mode="markers",
        name=literal(names[2]),
        marker={"symbol": "line-ns", "size": 14, "line": {"width": 4, "color": FOUND_LOOKS[2][0]}},
        customdata=[[round(y)] for y, _ in both],
        hovertemplate=f"{literal(names[2])}: %{{x:.1%}}<extra></extra>",
    )
    across = np.arange(0.04, 1.36, 0.08)  # invisible marks, so that a click anywhere in a row counts
    add_marks(
        fig,
        np.tile(across, len(relations)),
        np.repeat(np.arange(len(relations)), len(across)),
        {"symbol": "square", "size": 24, "opacity": 0},
        customdata=np.repeat(np.arange(len(relations)), len(across))[:, None],
        hoverinfo="none",
    )
    if selected is not None:
        fig.add_hrect(selected - 0.5, selected + 0.5, fillcolor=SKY, opacity=0.22, line_width=0, layer="below")
    fig.update_xaxes(range=[0, 1.36], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    name_rows(fig, [literal(name) for name in relations], range=[len(relations) - 0.45, -0.55], ticks="")
    fig.update_layout(height=52 + 45 * len(relations), showlegend=False, margin={"t": 8, "b": 8})
    return fig
