"""Figure of edited texts: how often each rule flips the prediction."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from plots.theme import BLUE, GREY, SMALL, VERMILION

# Keys: expectations of minibert.inside.predictions.checklist: "same" prediction, "change", or "open" (none).
STYLE = {"same": (BLUE, "circle"), "change": (VERMILION, "diamond"), "open": (GREY, "square")}


@dataclass(frozen=True)
class FlipRate:
    """A rule in the figure. rate: share of flipped predictions · interval: its 95 % confidence interval."""

    name: str
    expects: str
    rate: float
    interval: tuple[float, float]
    note: str  # such as 3 of 54


def flip_rates(rows: Sequence[FlipRate], title: str) -> go.Figure:
    """One row per rule: the rate with its interval; a triangle at the edge (0 or 1) where it should be."""
    fig = go.Figure()
    for place, row in enumerate(rows):
        colour, symbol = STYLE[row.expects]
        low, high = row.interval
        fig.add_scatter(
            x=[row.rate],
            y=[place],
            mode="markers",
            showlegend=False,
            marker={"size": 15, "color": colour, "symbol": symbol},
            error_x={
                "array": [high - row.rate],
                "arrayminus": [row.rate - low],
                "symmetric": False,
                "thickness": 3,
                "width": 9,
                "color": colour,
            },
            hovertemplate=f"{row.note}: %{{x:.1%}}<extra></extra>",
        )
        fig.add_annotation(
            x=1.03, y=place, text=row.note, showarrow=False, xanchor="left", font={"size": SMALL}, xref="paper"
        )
        if row.expects != "open":
            fig.add_scatter(
                x=[0.0 if row.expects == "same" else 1.0],
                y=[place],
                mode="markers",
                showlegend=False,
                hoverinfo="skip",
                cliponaxis=False,
                marker={
                    "symbol": "triangle-right-open" if row.expects == "same" else "triangle-left-open",
                    "size": 15,
                    "color": colour,
                    "line": {"width": 2},
                },
            )
    fig.update_xaxes(tickformat=".0%", range=[-0.02, 1.02], title_text=title)
    fig.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[row.name for row in rows],
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
    )
    fig.update_layout(height=110 + 48 * len(rows), margin={"r": 90})
    return fig
