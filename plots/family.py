"""Figures of the BERT family: a tree by date, sizes of its members, and their training cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from minibert.inside.relatives.family import KINDS, FamilyMember, line_of
from plots.attention import literal
from plots.theme import BLUE, GREEN, GREY, LEGEND_ABOVE, ORANGE, PINK, SKY, SMALL, VERMILION, titled

# Kind of change → its colour and symbol.
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
FAINT = ("rgba(138,143,152,0.35)", "circle")  # of models without the kind of change that is `shown`
LETTER, MARK, ROOM = 9.2, 30, 880  # pixels: width of a letter, of the space around a name, of the figure
BEHIND = 8  # models' widths of room for the last name


def lanes(members: Mapping[str, FamilyMember]) -> dict[str, int]:
    """Name → row, near its parent's, such that names in a row do not overlap and no line in a row runs through another
    model, which would then look like a parent."""
    step, free, rows, last = ROOM / (len(members) + 1 + BEHIND), {}, {}, {}
    for rank, member in enumerate(members.values()):
        home = rows.get(member.parent, 0)
        for lane in sorted(range(-len(members), len(members)), key=lambda lane: (abs(lane - home), lane)):
            crossed = lane == home and last.get(lane, member.parent) != member.parent
            if free.get(lane, 0) <= rank and not crossed:
                break
        rows[member.name], last[lane] = lane, member.name
        free[lane] = rank + (MARK + LETTER * len(member.name)) / step
    lowest = min(rows.values())
    return {name: lane - lowest for name, lane in rows.items()}


def tree(
    members: Mapping[str, FamilyMember], chosen: str, coloured: bool, shown: str, words: Mapping[str, str]
) -> go.Figure:
    """Models from left to right in chronological order; a line leads from each to the models derived from it.

    chosen: highlighted together with its ancestors · coloured: by kind of change · shown: the kind whose models are in
    full colour, "" for all · words: kind → its name.
    """
    rows, rank = lanes(members), {name: number for number, name in enumerate(members)}
    line = line_of(members, chosen)
    fig = go.Figure()
    for member in members.values():
        if member.parent:
            own = member.name in line
            ends = (member.parent, member.name)
            x, y = [rank[name] for name in ends], [rows[name] for name in ends]
            fig.add_scatter(
                x=[x[0], x[0] + 0.6, x[1] - 0.6, x[1]],
                y=[y[0], y[0], y[1], y[1]],
                mode="lines",
                hoverinfo="skip",
                line={
                    "shape": "spline",
                    "smoothing": 0.6,
                    "width": 3 if own else 1.5 if member.parent == chosen else 1,
                    "color": BLUE if own or member.parent == chosen else GREY,
                },
                opacity=0.9 if own else 0.35,
                showlegend=False,
            )
    every = list(members.values())
    looks = [
        LOOKS[shown if shown in one.changed else one.changed[0]] if coloured else (GREY, "circle") for one in every
    ]
    looks = [look if not shown or shown in one.changed else FAINT for look, one in zip(looks, every, strict=True)]
    fig.add_scatter(
        x=[rank[one.name] for one in every],
        y=[rows[one.name] for one in every],
        mode="markers+text",
        text=[f" <b>{literal(one.name)}</b>" if one.name == chosen else f" {literal(one.name)}" for one in every],
        textposition="middle right",
        textfont={"size": SMALL},
        cliponaxis=False,
        showlegend=False,
        marker={
            "opacity": 1,
            "size": [17 if one.name == chosen else 12 for one in every],
            "color": [look[0] for look in looks],
            "symbol": [look[1] for look in looks],
            "line": {"width": [3 if one.name == chosen else 0 for one in every], "color": BLUE},
        },
        customdata=list(range(len(every))),
        hovertext=[" · ".join([one.date, *(words[kind] for kind in one.changed if coloured)]) for one in every],
        hovertemplate="%{text}<br>%{hovertext}<extra></extra>",
    )
    years: dict[int, str] = {}  # rank of the year's first model → year, if there is room
    for at, one in enumerate(every):
        if one.date[:4] not in years.values() and (not years or at - max(years) >= 3):
            years[at] = one.date[:4]
    fig.update_xaxes(tickvals=list(years), ticktext=list(years.values()), range=[-1, len(every) + BEHIND], tickangle=0)
    fig.update_yaxes(visible=False, range=[max(rows.values()) + 0.6, -0.6])
    fig.update_layout(height=40 + 26 * (max(rows.values()) + 1), margin_t=4, hovermode="closest")
    return fig


# Side of a mark → its name's box, left, right, below and above the mark: in names' widths, and in units of `placed`.
SIDES = {
    "top center": (-0.5, 0.5, 0.15, 0.4),
    "middle left": (-1.1, -0.1, -0.1, 0.1),
    "bottom center": (-0.5, 0.5, -0.4, -0.15),
    "middle right": (0.1, 1.1, -0.1, 0.1),
}
RADIUS = 0.08  # of a mark


def placed(points: Sequence[tuple[float, float]], others: Sequence[tuple[float, float]] = ()) -> list[str]:
    """Side of each point for its name, where it covers the fewest points and names. points: (x, y), in units of about a
    name's width and three times its height · others: points without a name."""
    marks = {*points, *others}
    boxes: list[tuple[float, float, float, float]] = []
    sides: list[str] = []
    for x, y in points:
        around = {side: (x + a, x + b, y + c, y + d) for side, (a, b, c, d) in SIDES.items()}
        covered = {
            side: sum(a < u < b and c - RADIUS < v < d + RADIUS for u, v in marks)
            + 9 * sum(a < f and e < b and c < h and g < d for e, f, g, h in boxes)
            for side, (a, b, c, d) in around.items()
        }
        sides.append(min(covered, key=covered.__getitem__))
        boxes.append(around[sides[-1]])
    return sides


def sizes(
    points: Sequence[tuple[str, str, float, bool]],
    axis: str,
    marked: Sequence[str],
    sources: Mapping[bool, str],
    title: str,
) -> go.Figure:
    """Number of weights over time, log scale. points: (name, YYYY-MM, weights, counted), hollow if not counted ·
    sources: names of the numbers that are counted and of those that are not."""
    fig = go.Figure()
    at = {name: (int(date[:4]) + int(date[5:]) / 12, 0.6 * math.log10(n)) for name, date, n, _counted in points}
    named = [name for name in at if name in marked]
    ways = dict(zip(named, placed([at[name] for name in named], list(at.values())), strict=True))
    for counted, symbol in ((True, "circle"), (False, "circle-open")):
        some = [point for point in points if point[3] is counted]
        fig.add_scatter(
            x=[f"{date}-01" for _name, date, _n, _c in some],
            y=[n for _name, _d, n, _c in some],
            mode="markers+text",
            text=[literal(name) if name in marked else "" for name, *_rest in some],
            hovertext=[literal(name) for name, *_rest in some],
            textfont={"size": SMALL},
            textposition=[ways.get(name, "top center") for name, *_rest in some],
            marker={"symbol": symbol, "size": 11, "color": BLUE if counted else VERMILION},
            cliponaxis=False,
            hovertemplate="%{hovertext}<br>%{y:,}<extra></extra>",
            name=sources[counted],
        )
    fig.update_yaxes(type="log", title_text=axis, dtick=1, exponentformat="B", side="right")  # a phone shows this end
    beside = {"orientation": "v", "x": 1, "xanchor": "right"}  # entries below each other: a phone shows both
    fig.update_layout(height=430, showlegend=True, legend=LEGEND_ABOVE | beside)
    return titled(fig, title)


def costs(
    points: Sequence[tuple[str, float, float]],
    least: Sequence[tuple[str, float, float]],
    axes: tuple[str, str],
    title: str,
) -> go.Figure:
    """Number of weights over training tokens, both on log scales. points: (name, weights, tokens) · least: the same for
    models that read fewer if short rows are counted as such: hollow, in the same row."""
    fig = go.Figure()
    for power in range(19, 25):  # lines of equal compute: 6 · weights · tokens
        x = [1e9, 1e13]
        fig.add_scatter(
            x=x,
            y=[10**power / (6 * n) for n in x],
            mode="lines",
            line={"color": GREY, "width": 1, "dash": "dot"},
            hoverinfo="skip",
            showlegend=False,
        )
    points = sorted(points, key=lambda point: -point[1])  # the uppermost of a crowd has its name above it
    full = {name: tokens for name, _w, tokens in points}
    for name, weights, tokens in least:
        fig.add_scatter(
            x=[tokens, full[name]],
            y=[weights, weights],
            mode="lines+markers",
            line={"color": BLUE, "width": 1},
            marker={"symbol": ["circle-open", "circle"], "size": 12, "color": BLUE},
            customdata=[6 * weights * n for n in (tokens, full[name])],
            hovertemplate=f"{literal(name)}<br>6 · %{{y:,}} · %{{x:,}} = %{{customdata:.1e}}<extra></extra>",
            showlegend=False,
        )
    fig.add_scatter(
        x=[tokens for _n, _w, tokens in points],
        y=[weights for _n, weights, _t in points],
        mode="markers+text",
        text=[literal(name) for name, *_rest in points],
        textfont={"size": SMALL},
        textposition=placed([(4 * math.log10(tokens), math.log10(w)) for _n, w, tokens in points]),
        marker={"size": 12, "color": BLUE},
        customdata=[6 * w * t for _n, w, t in points],
        cliponaxis=False,
        hovertemplate="%{text}<br>6 · %{y:,} · %{x:,} = %{customdata:.1e}<extra></extra>",
        showlegend=False,
    )
    fig.update_xaxes(type="log", title_text=axes[0], range=[9.8, 12.8], dtick=1, exponentformat="B")
    fig.update_yaxes(type="log", title_text=axes[1], range=[6.8, 11.6], dtick=1, exponentformat="B", side="right")
    fig.update_layout(height=430)
    return titled(fig, title)


def gains(rows: Sequence[tuple[str, float]], kinds: Sequence[str], axis: str, title: str) -> go.Figure:
    """One bar per change, the first at the top. rows: (name, gain in points) · kinds: of each change, see LOOKS."""
    fig = go.Figure()
    fig.add_bar(
        y=[name for name, _points in rows],
        x=[points for _name, points in rows],
        orientation="h",
        width=0.62,
        marker={"color": [LOOKS[kind][0] for kind in kinds]},
        text=[f"{points:+.1f}" for _name, points in rows],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:+.1f}<extra></extra>",
        showlegend=False,
    )
    values = [points for _name, points in rows]
    fig.update_xaxes(title_text=axis, range=[min(0, *values) - 0.6, max(values) + 0.6])
    fig.update_yaxes(autorange="reversed", showgrid=False)
    fig.update_layout(height=90 + 46 * len(rows))
    return titled(fig, title)
