"""Figures of injected knowledge: a sentence tree's visible matrix, effects of facts, and knowledge embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from plots.attention import literal, token_ticks
from plots.theme import BLUE, GREY, ORANGE, SMALL, add_marks, titled


def visible_matrix(
    tokens: Sequence[str], branch: Sequence[int], mask: Sequence[Sequence[bool]], chosen: int, title: str = ""
) -> go.Figure:
    """One mark per pair (row may attend to column), round if either is in a branch; the row `chosen` is framed."""
    fig, size = go.Figure(), len(tokens)
    pairs = [(row, column) for row in range(size) for column in range(size)]
    for hung, colour, symbol in ((False, BLUE, "square"), (True, ORANGE, "circle")):
        some = [(i, j) for i, j in pairs if mask[i][j] and bool(branch[i] or branch[j]) is hung]
        add_marks(
            fig,
            [j for _i, j in some],
            [i for i, _j in some],
            {"symbol": symbol, "size": max(6, min(11, 280 / size)), "color": colour},
            text=[literal(f"{tokens[i]} → {tokens[j]}") for i, j in some],
            hover="%{text}",
        )
    fig.add_shape(
        type="rect", x0=-0.5, x1=size - 0.5, y0=chosen - 0.5, y1=chosen + 0.5, line={"color": GREY, "width": 3}
    )
    ticks = token_ticks(tokens, chosen)
    fig.update_xaxes(range=[-0.6, size - 0.4], tickangle=-45, **ticks)
    fig.update_yaxes(range=[size - 0.4, -0.6], **ticks)
    fig.update_layout(height=90 + 20 * size, margin={"t": 4})
    return titled(fig, title)


def noise_bars(
    names: Sequence[str], right: Sequence[float], turned: Sequence[float], axes: tuple[str, str], title: str
) -> go.Figure:
    """Two panels of bars: share of right predictions, and rotation of the blank's hidden state."""
    from plotly.subplots import make_subplots

    fig = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.1)
    for column, (values, colour, form) in enumerate(((right, BLUE, ".0%"), (turned, ORANGE, ".3f")), 1):
        fig.add_bar(
            y=list(names),
            x=list(values),
            orientation="h",
            width=0.6,
            marker={"color": colour},
            showlegend=False,
            text=[format(value, form) for value in values],
            textposition="outside",
            cliponaxis=False,
            textfont={"size": SMALL},
            hovertemplate="%{y}: %{text}<extra></extra>",
            row=1,
            col=column,
        )
        most = max([*values, 1e-6])
        fig.update_xaxes(title_text=axes[column - 1], range=[0, 1.3 * most], row=1, col=column, nticks=4)
    fig.update_yaxes(autorange="reversed", showgrid=False)
    fig.update_layout(height=330)
    return titled(fig, title)


def joined_vector(vector: Sequence[float], hidden: int, parts: tuple[str, str], title: str) -> go.Figure:
    """A word's vector as a row of bars: the first `hidden` components from BERT, the others from its semantic roles."""
    fig, places = go.Figure(), list(range(1, len(vector) + 1))
    for name, colour, some in ((parts[0], BLUE, slice(0, hidden)), (parts[1], ORANGE, slice(hidden, None))):
        fig.add_bar(
            x=places[some],
            y=list(vector[some]),
            name=name,
            marker={"color": colour},
            hovertemplate=f"{name}, %{{x}}: %{{y:.3f}}<extra></extra>",
        )
    fig.update_layout(
        height=230, bargap=0.1, showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"}
    )
    return titled(fig, title)


def translations(
    names: Sequence[str], subjects: int, points: Sequence[Sequence[float]], ends: Sequence[Sequence[float]], title: str
) -> go.Figure:
    """Entities of a relation's facts in a plane, the subjects first. ends: subject + relation vector for each subject,
    the end of an arrow from it."""
    fig = go.Figure()
    groups = (
        (BLUE, "circle", points[:subjects], names[:subjects]),
        (ORANGE, "square", points[subjects:], names[subjects:]),
    )
    for colour, symbol, some, labels in groups:
        fig.add_scatter(
            x=[x for x, _ in some],
            y=[y for _, y in some],
            mode="markers+text" if len(some) < 15 else "markers",
            text=[literal(name) for name in labels],
            textposition="top center",
            textfont={"size": SMALL},
            showlegend=False,
            cliponaxis=False,
            marker={"size": 12, "symbol": symbol, "color": colour},
            hovertemplate="%{text}<extra></extra>",
        )
    for (x, y), (to_x, to_y) in zip(points[:subjects], ends, strict=True):
        fig.add_annotation(
            x=to_x,
            y=to_y,
            ax=x,
            ay=y,
            xref="x",
            yref="y",
            axref="x",
            ayref="y",
            showarrow=True,
            text="",
            arrowhead=2,
            arrowwidth=1.5,
            arrowcolor=GREY,
        )
    fig.update_xaxes(zeroline=False, showticklabels=False)
    fig.update_yaxes(zeroline=False, showticklabels=False, scaleanchor="x")
    fig.update_layout(height=340)
    return titled(fig, title)
