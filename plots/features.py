"""Figures of features versus fine-tuning: the hidden states the head reads, live scores, storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from minibert.finetune.layer_choice import LayerChoice
from plots.attention import literal
from plots.grammar import OURS
from plots.theme import BLUE, GREEN, GREY, LEGEND_ABOVE, SKY, SMALL, add_marks, broken, name_rows

TRAINED, FROZEN, NEW = BLUE, SKY, GREEN
SEE_THROUGH = "rgba(138,143,152,0.10)"


def stack(
    tokens: Sequence[str], reading: LayerChoice, blocks: int, frozen: bool, rows: Mapping[str, str], outputs: str
) -> go.Figure:
    """A square per token and layer: filled if the head reads that hidden state, coloured by whether it is trained.

    rows: labels of the rows "embeddings", "layer" (with {n}), "read", "bilstm", "new" · outputs: label of the output.
    """
    fig = go.Figure()
    colour = FROZEN if frozen else TRAINED
    columns, size = list(range(len(tokens))), 24 if len(tokens) <= 7 else 18  # of a square: a phone shows all, too
    one = reading.pooling is not None  # pooled to a single vector
    taken = columns[:1] if reading.pooling in ("pooler", "cls") else columns
    names = [rows["embeddings"], *(rows["layer"].format(n=n) for n in range(1, blocks + 1))]
    pooled_first = one and not reading.bilstm
    read_at = blocks + 1.35
    tops = [(read_at, rows["read"], pooled_first)]
    if reading.bilstm:
        tops.append((read_at + 1, rows["bilstm"], one))
    tops.append((tops[-1][0] + 1, rows["new"], one))
    middle = [sum(columns) / len(columns)]
    where = [middle if single else columns for _, _, single in tops]
    sources = taken if pooled_first else columns
    for column in sources:
        target = where[0][0] if pooled_first else column
        lines(fig, [(column, min(reading.layers)), (column, blocks + 0.62), (target, read_at - 0.28)], colour)
    for low, high, below, above in zip(tops, tops[1:], where, where[1:], strict=False):
        for number, column in enumerate(below):
            target = above[number] if len(above) == len(below) else above[0]
            lines(fig, [(column, low[0] + 0.28), (target, high[0] - 0.28)], NEW)
    for layer in range(blocks + 1):
        read = [column for column in columns if layer in reading.layers and (column in sources)]
        for filled, at in ((False, [c for c in columns if c not in read]), (True, read)):
            if at:
                add_marks(
                    fig,
                    at,
                    [layer] * len(at),
                    {
                        "symbol": "square",
                        "size": size,
                        "color": colour if filled else SEE_THROUGH,
                        "line": {"width": 3 if filled else 1.5, "color": colour},
                    },
                    customdata=[literal(tokens[c]) for c in at],
                    hover=literal(names[layer]) + " · %{customdata}",
                )
    for (y, name, _), at in zip(tops, where, strict=True):
        add_marks(
            fig,
            at,
            [y] * len(at),
            {
                "symbol": "square",
                "size": size,
                "color": NEW if y > read_at else colour,
                "line": {"width": 3, "color": NEW if y > read_at else colour},
            },
            hover=literal(name) + "",
        )
    end = tops[-1][0]
    text = broken(literal(outputs), 24)
    fig.add_annotation(x=middle[0], y=end + 0.4, yanchor="bottom", text=text, showarrow=False, font={"size": SMALL})
    heights = [*range(blocks + 1), *(y for y, _, _ in tops)]
    labels = [*names, *(name for _, name, _ in tops)]
    fig.update_yaxes(
        tickvals=heights,
        ticktext=[literal(name) for name in labels],
        range=[-0.6, end + 1.3],
        showgrid=False,
        zeroline=False,
    )
    fig.update_xaxes(
        tickvals=columns,
        ticktext=[literal(token) for token in tokens],
        showgrid=False,
        range=[-0.7, len(tokens) - 0.3],
        tickangle=-45 if len(tokens) > 7 else 0,
    )
    fig.update_layout(height=110 + 52 * len(heights))
    return fig


def lines(fig: go.Figure, points: Sequence[tuple[float, float]], colour: str) -> None:
    fig.add_scatter(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        mode="lines",
        showlegend=False,
        hoverinfo="skip",
        line={"color": colour, "width": 2},
        opacity=0.55,
    )


@dataclass(frozen=True)
class RunScore:
    """score: a run's latest, None before the first · recorded: scores of earlier runs with the same settings."""

    name: str
    score: float | None
    recorded: Sequence[float] = ()


def bars(rows: Sequence[RunScore], axis: str, words: tuple[str, str]) -> go.Figure:
    """Live scores in percent, with recorded runs as diamonds. words: legend entries of the bars and the diamonds."""
    fig = go.Figure()
    at = list(range(len(rows)))
    fig.add_bar(
        y=at,
        x=[row.score for row in rows],
        orientation="h",
        name=words[0],
        marker={"color": BLUE},
        width=0.55,
        text=["" if row.score is None else f"{row.score:.1f}" for row in rows],
        textposition="inside",
        insidetextanchor="start",
        textfont={"size": 18, "color": "white"},
        hovertemplate="%{x:.1f}<extra></extra>",
    )
    dots = [(value, y) for y, row in zip(at, rows, strict=True) for value in row.recorded]
    if dots:
        fig.add_scatter(
            x=[x for x, _ in dots],
            y=[y for _, y in dots],
            mode="markers",
            name=words[1],
            marker={"symbol": "diamond", "size": 12, "color": OURS, "line": {"width": 1.5, "color": "#333333"}},
            hovertemplate="%{x:.1f}<extra></extra>",
        )
    name_rows(fig, [literal(row.name) for row in rows])
    fig.update_xaxes(range=[0, 100], title_text=axis)
    fig.update_layout(
        height=150 + 52 * len(rows),
        showlegend=True,
        uirevision="bars",
        legend=LEGEND_ABOVE,
    )
    return fig


def storage(
    tasks: Sequence[int], lines_of: Mapping[str, Sequence[float]], now: int, axes: tuple[str, str]
) -> go.Figure:
    """Storage over the number of tasks. lines_of: name → megabytes for each of `tasks` · now: the marked number."""
    fig = go.Figure()
    for (name, values), colour, dash in zip(lines_of.items(), (TRAINED, FROZEN), ("solid", "dash"), strict=False):
        fig.add_scatter(
            x=list(tasks),
            y=list(values),
            mode="lines",
            name=name,
            line={"color": colour, "width": 4, "dash": dash},
            hovertemplate="%{x}: %{y:,.1f}<extra></extra>",
        )
    fig.add_vline(x=now, line={"color": GREY, "dash": "dot", "width": 2})
    fig.update_xaxes(title_text=axes[0], range=[1, max(tasks)])
    fig.update_yaxes(title_text=axes[1], rangemode="tozero")
    fig.update_layout(height=300, showlegend=True, legend=LEGEND_ABOVE)
    return fig
