"""Figures of ALBERT: where its weights are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from plots.parameters import COLOURS, LIGHT, short
from plots.theme import FONT_SIZE, SMALL, name_rows_above

Segment = tuple[str, int]  # a group of minibert.count, and how many weights


def weights(rows: Mapping[str, Sequence[Segment]], names: Mapping[str, str], axis: str) -> go.Figure:
    """One bar per model, all on one scale, with a segment for each copy of weights, in the order of the data flow.
    rows: title → segments · names: group → its label."""
    fig = go.Figure()
    groups = dict.fromkeys(group for segments in rows.values() for group, _ in segments)
    places = list(rows)
    for group in groups:
        base, length, where = [], [], []
        for title, segments in rows.items():
            start = 0
            for kind, number in segments:
                if kind == group:
                    base.append(start / 1e6)
                    length.append(number / 1e6)
                    where.append(places.index(title))
                start += number
        fig.add_bar(
            x=length,
            base=base,
            y=where,
            orientation="h",
            name=names.get(group, group),
            width=0.46,
            marker={"color": COLOURS[group], "line": {"color": LIGHT, "width": 1.5}},
            hovertext=[f"{names.get(group, group)}: {number:,.0f}" for number in (round(x * 1e6) for x in length)],
            hoverinfo="text",
        )
    totals = [sum(number for _, number in segments) for segments in rows.values()]
    for place, number in enumerate(totals):
        fig.add_annotation(
            x=number / 1e6,
            y=place,
            text=f"<b>{short(number)}</b>",
            showarrow=False,
            xanchor="left",
            xshift=8,
            font={"size": FONT_SIZE},
        )
    fig.update_xaxes(title_text=axis, range=[0, 1.26 * max(totals) / 1e6])
    name_rows_above(fig, places, 0.24)
    fig.update_layout(
        barmode="overlay",
        height=130 + 80 * len(places),
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": SMALL}},
    )
    return fig
