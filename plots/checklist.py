"""Figure of edited texts: how often each rule flips the prediction."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from plots.theme import BLUE, GREY, SMALL, VERMILION, add_marks, broken, name_rows

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
        add_marks(
            fig,
            [row.rate],
            [place],
            {"size": 15, "color": colour, "symbol": symbol},
            error_x={
                "array": [high - row.rate],
                "arrayminus": [row.rate - low],
                "symmetric": False,
                "thickness": 3,
                "width": 9,
                "color": colour,
            },
            hover=f"{row.note}: %{{x:.1%}}",
        )
        note = {"text": broken(row.note, 9), "align": "left", "showarrow": False, "font": {"size": SMALL}}
        fig.add_annotation(x=1, y=place, xref="paper", xanchor="left", xshift=8, **note)
        if row.expects != "open":
            add_marks(
                fig,
                [0.0 if row.expects == "same" else 1.0],
                [place],
                {
                    "symbol": "triangle-right-open" if row.expects == "same" else "triangle-left-open",
                    "size": 15,
                    "color": colour,
                    "line": {"width": 2},
                },
                hoverinfo="skip",
                cliponaxis=False,
            )
    fig.update_xaxes(tickformat=".0%", range=[-0.06, 1.06], title_text=title)
    names = [broken(row.name, 18) for row in rows]  # beside them a phone has room for the rates
    name_rows(fig, names, range=[len(rows) - 0.4, -0.6])
    fig.update_layout(height=110 + 48 * len(rows), margin={"r": 76})
    return fig
