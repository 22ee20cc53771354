"""The family: a tree by date, how large its members are, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from minibert.family import KINDS, Member, line_of
from plots.attention import literal
from plots.theme import BLUE, GREEN, GREY, ORANGE, PINK, SKY, SMALL, VERMILION, titled

# Kind of change → its colour and symbol, told apart by both.
LOOKS = dict(
    zip(
        KINDS,
        (
            (BLUE, "circle"),
            (ORANGE, "square"),
            (PINK, "hexagon"),
            (VERMILION, "diamond"),
            (GREEN, "triangle-up"),
            (SKY, "star"),
            (GREY, "cross"),
        ),
        strict=True,
    )
)
LETTER, MARK, ROOM = 8.2, 20, 1_150  # pixels: of a letter, before it, and all the width there is


def lanes(members: Mapping[str, Member]) -> dict[str, int]:
    """The row of each name, near its parent's, so that no name runs into the next one of its row."""
    step, free, found = ROOM / len(members), {}, {}
    for rank, member in enumerate(members.values()):
        home = found.get(member.parent, 0)
        for lane in sorted(range(-len(members), len(members)), key=lambda lane: (abs(lane - home), lane)):
            if free.get(lane, 0) <= rank:
                break
        found[member.name] = lane
        free[lane] = rank + (MARK + LETTER * len(member.name)) / step
    lowest = min(found.values())
    return {name: lane - lowest for name, lane in found.items()}


def tree(members: Mapping[str, Member], chosen: str, told: bool, shown: str, words: Mapping[str, str]) -> go.Figure:
    """Models from left to right in the order in which they came; a line leads from each to those that changed it.

    chosen: marked, with the line it stands in · told: whether the kinds of change are coloured · shown: the kind whose
    models are in full colour, "" for all · words: kind → its name.
    """
    rows, rank = lanes(members), {name: number for number, name in enumerate(members)}
    line = line_of(members, chosen)
    fig = go.Figure()
    for member in members.values():
        if member.parent:
            own = member.name in line or (member.parent == chosen)
            ends = (member.parent, member.name)
            x, y = [rank[name] for name in ends], [rows[name] for name in ends]
            fig.add_scatter(
                x=[x[0], x[0] + 0.6, x[1] - 0.6, x[1]], y=[y[0], y[0], y[1], y[1]], mode="lines", hoverinfo="skip",
                line={"shape": "spline", "smoothing": 0.6, "width": 3 if own else 1, "color": BLUE if own else GREY},
                opacity=1 if own else 0.4, showlegend=False,
            )  # fmt: skip
    every = list(members.values())
    looks = [LOOKS[shown if shown in one.changed else one.changed[0]] if told else (GREY, "circle") for one in every]
    full = [not shown or shown in one.changed for one in every]
    fig.add_scatter(
        x=[rank[one.name] for one in every], y=[rows[one.name] for one in every], mode="markers+text",
        text=[f"<b>{literal(one.name)}</b>" if one.name == chosen else literal(one.name) for one in every],
        textposition="middle right", textfont={"size": SMALL}, cliponaxis=False, showlegend=False,
        marker={
            "size": [17 if one.name == chosen else 12 for one in every],
            "color": [look[0] for look in looks], "symbol": [look[1] for look in looks],
            "opacity": [1 if one else 0.2 for one in full],
            "line": {"width": [3 if one.name == chosen else 0 for one in every], "color": BLUE},
        },
        customdata=list(range(len(every))),
        hovertext=[" · ".join([one.date, *(words[kind] for kind in one.changed if told)]) for one in every],
        hovertemplate="%{text}<br>%{hovertext}<extra></extra>",
    )  # fmt: skip
    firsts = {one.date[:4]: rank[one.name] for one in reversed(every)}
    fig.update_xaxes(
        tickvals=list(firsts.values()), ticktext=list(firsts), range=[-1, len(every) + 4], showgrid=True, side="bottom"
    )
    fig.update_yaxes(visible=False, range=[max(rows.values()) + 0.6, -0.6])
    fig.update_layout(height=60 + 31 * (max(rows.values()) + 1), hovermode="closest")
    return fig


def sizes(points: Sequence[tuple[str, str, float, bool]], axis: str, marked: Sequence[str], title: str) -> go.Figure:
    """Weights of each size over the years, on a scale of tens. points: (name, YYYY-MM, weights, counted)."""
    fig = go.Figure()
    for counted, symbol in ((True, "circle"), (False, "circle-open")):
        some = [point for point in points if point[3] is counted]
        fig.add_scatter(
            x=[f"{date}-01" for _name, date, _n, _c in some], y=[n for _name, _d, n, _c in some],
            mode="markers+text", text=[literal(name) if name in marked else "" for name, *_rest in some],
            hovertext=[literal(name) for name, *_rest in some], textposition="top center", textfont={"size": SMALL},
            marker={"symbol": symbol, "size": 11, "color": BLUE if counted else VERMILION}, cliponaxis=False,
            hovertemplate="%{hovertext}<br>%{y:,}<extra></extra>", showlegend=False,
        )  # fmt: skip
    fig.update_yaxes(type="log", title_text=axis, dtick=1, exponentformat="SI")
    fig.update_layout(height=430)
    return titled(fig, title)


def costs(points: Sequence[tuple[str, float, float]], axes: tuple[str, str], title: str) -> go.Figure:
    """Weights against tokens read, both on a scale of tens. points: (name, weights, tokens)."""
    fig = go.Figure()
    for power in range(19, 25):  # lines of equal work: 6 · weights · tokens
        x = [1e9, 1e13]
        fig.add_scatter(
            x=x, y=[10**power / (6 * n) for n in x], mode="lines", line={"color": GREY, "width": 1, "dash": "dot"},
            hoverinfo="skip", showlegend=False,
        )  # fmt: skip
    fig.add_scatter(
        x=[tokens for _n, _w, tokens in points], y=[weights for _n, weights, _t in points], mode="markers+text",
        text=[literal(name) for name, *_rest in points], textposition="top center", textfont={"size": SMALL},
        marker={"size": 12, "color": BLUE}, customdata=[6 * w * t for _n, w, t in points], cliponaxis=False,
        hovertemplate="%{text}<br>6 · %{y:,} · %{x:,} = %{customdata:.1e}<extra></extra>", showlegend=False,
    )  # fmt: skip
    fig.update_xaxes(type="log", title_text=axes[0], range=[9.8, 12.8], dtick=1, exponentformat="SI")
    fig.update_yaxes(type="log", title_text=axes[1], range=[6.8, 11.6], dtick=1, exponentformat="SI")
    fig.update_layout(height=430)
    return titled(fig, title)


def gains(rows: Sequence[tuple[str, float]], kinds: Sequence[str], axis: str, title: str) -> go.Figure:
    """Points by what was changed, one bar above another, the first at the top. kinds: of each bar, see LOOKS."""
    fig = go.Figure()
    fig.add_bar(
        y=[name for name, _points in rows], x=[points for _name, points in rows], orientation="h", width=0.62,
        marker={"color": [LOOKS[kind][0] for kind in kinds]}, text=[f"{points:+.1f}" for _name, points in rows],
        textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{x:+.1f}<extra></extra>", showlegend=False,
    )  # fmt: skip
    values = [points for _name, points in rows]
    fig.update_xaxes(title_text=axis, range=[min(0, *values) - 0.6, max(values) + 0.6])
    fig.update_yaxes(autorange="reversed", showgrid=False)
    fig.update_layout(height=90 + 46 * len(rows))
    return titled(fig, title)
