"""Figures of XLNet: attention masks of a permutation, both streams as one sequence, attention, joint probabilities."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal, number, token_label, token_ticks
from plots.marks import LEGEND_ABOVE, add_box
from plots.theme import BLUE, FONT_SIZE, GREEN, GREY, ORANGE, PINK, SMALL, VERMILION, fit_axis, name_rows_above

OPEN, SHUT = (BLUE, "square"), (GREY, "x-thin")  # colour and marker
GUESSED = ORANGE
FIXED = {"fixedrange": True, "zeroline": False}  # of axes


def two_masks(
    words: Sequence[str],
    panels: Mapping[str, Sequence[Sequence[bool]]],
    guessed: Sequence[bool],
    cell: tuple[int, int, int],
    axes: tuple[str, str],
) -> go.Figure:
    """Masks side by side: a square if the row's word may attend to the column's, else a faint cross.

    panels: title → (T, T) · guessed: whether each word is predicted · cell: framed (panel, row, column). A click's
    customdata is the same triple.
    """
    n = len(words)
    fig = make_subplots(
        cols=len(panels), shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=[literal(name) for name in panels]
    )
    size = max(7, min(20, 132 // n))
    for panel, mask in enumerate(panels.values()):
        for visible, (colour, symbol) in ((True, OPEN), (False, SHUT)):
            for asked in (False, True):
                cells = [(i, j) for i in range(n) for j in range(n) if mask[i][j] == visible and guessed[i] == asked]
                if not cells:
                    continue
                rows, columns = zip(*cells, strict=True)
                mark = GUESSED if visible and asked else colour
                fig.add_scatter(
                    x=columns,
                    y=rows,
                    mode="markers",
                    showlegend=False,
                    hoverinfo="text",
                    customdata=[[panel, i, j] for i, j in cells],
                    hovertext=[f"{token_label(words[i])} → {token_label(words[j])}" for i, j in cells],
                    marker={
                        "color": mark,
                        "symbol": symbol,
                        "size": size if visible else 9,
                        "opacity": 1.0,
                        "line": {"width": 0 if visible else 2, "color": mark},
                    },
                    row=1,
                    col=panel + 1,
                )
    panel, row, column = cell
    for colour, width in (("white", 6), (VERMILION, 3)):
        ends = [(place - 0.5, place + 0.5) for place in (column, row)]
        add_box(fig, *ends, line={"color": colour, "width": width}, row=1, col=panel + 1)
    fig.update_annotations(font={"size": FONT_SIZE})
    fig.update_layout(height=130 + max(20, 28 - n // 2) * n, margin={"l": 4, "r": 8, "t": 30, "b": 4})
    for at in range(len(panels)):
        ticks = token_ticks(words, column if at == panel else None)
        fig.update_xaxes(**ticks, tickangle=-55, range=[-0.6, n - 0.4], **FIXED, row=1, col=at + 1)
    fig.update_yaxes(**token_ticks(words, row), range=[n - 0.4, -0.6], **FIXED)
    fig.update_yaxes(title_text=literal(axes[0]), row=1, col=1)
    return fig


def double_mask(words: Sequence[str], mask, names: tuple[str, str], title: str) -> go.Figure:
    """The combined mask of both streams: (2·T, 2·T), first the tokens, then a query for each. names: of the two."""
    n = len(words)
    mask = np.asarray(mask, dtype=bool)
    fig = go.Figure()
    for visible, (colour, symbol) in ((True, OPEN), (False, SHUT)):
        for queries in (False, True):
            rows, columns = np.nonzero(mask == visible)
            chosen = (rows >= n) == queries
            rows, columns = rows[chosen], columns[chosen]
            mark = GREEN if visible and queries else colour
            cells = zip(rows, columns, strict=True)
            fig.add_scatter(
                x=columns,
                y=rows,
                mode="markers",
                showlegend=False,
                hoverinfo="text",
                hovertext=[f"{_stream(words, i, names)} → {_stream(words, j, names)}" for i, j in cells],
                marker={
                    "color": mark,
                    "symbol": symbol,
                    "size": max(4, 150 // n) if visible else 5,
                    "line": {"width": 0 if visible else 1, "color": mark},
                },
            )
    fig.add_hline(y=n - 0.5, line={"color": VERMILION, "width": 3})
    fig.add_vline(x=n - 0.5, line={"color": VERMILION, "width": 3})
    twice = [*words, *words]
    first, second = map(literal, names)
    ends = [-0.7, 2 * n - 0.3]
    fig.update_xaxes(**token_ticks(twice), tickangle=-60, range=ends, **FIXED, title_text=f"{first} | {second}")
    fig.update_yaxes(**token_ticks(twice), range=ends[::-1], **FIXED, title_text=f"{second} | {first}")
    fig.update_layout(height=150 + 19 * 2 * n, title=literal(title), margin={"l": 4, "r": 8, "b": 4})
    return fig


def _stream(words: Sequence[str], place: int, names: tuple[str, str]) -> str:
    n = len(words)
    return f"{literal(names[int(place >= n)])} {token_label(words[place % n])}"


def looked_at(
    memory: Sequence[str],
    row: Sequence[str],
    shares: Sequence[float],
    here: int,
    names: tuple[str, str, str],
    title: str,
) -> go.Figure:
    """Attention of the query of word `here` of the row to each word of the memory and then of the row. shares: one per
    word · names: of the memory, of the row, of the y axis."""
    fig, words = go.Figure(), [*memory, *row]
    parts = ((names[0], ORANGE, range(len(memory)), "/"), (names[1], BLUE, range(len(memory), len(words)), ""))
    for name, colour, places, shape in parts:
        fig.add_bar(
            x=list(places),
            y=[shares[place] for place in places],
            name=literal(name),
            marker={"color": colour, "pattern": {"shape": shape}},
            customdata=[token_label(words[place]) for place in places],
            hovertemplate="%{customdata}: %{y:.1%}<extra></extra>",
        )
    asked = len(memory) + here
    marks = [f"<b>{token_label(word)} ?</b>" if n == asked else token_label(word) for n, word in enumerate(words)]
    fig.update_xaxes(tickvals=list(range(len(words))), ticktext=marks, tickangle=-45, showgrid=False)
    fig.update_yaxes(title_text=names[2], tickformat=".0%", rangemode="tozero")
    return fig.update_layout(height=340, title=literal(title), legend=LEGEND_ABOVE, bargap=0.25)


def joint_bars(rows: Mapping[str, float], axis: str, title: str) -> go.Figure:
    """One bar per way to compute a joint probability. rows: name → probability."""
    names, values = list(rows), list(rows.values())
    colours = [ORANGE if index < len(names) // 2 else BLUE for index in range(len(names))]
    fig = go.Figure(
        go.Bar(
            x=values,
            y=[literal(name) for name in names],
            orientation="h",
            marker={"color": colours},
            text=[f"{value:.2%}" for value in values],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.3%}<extra></extra>",
        )
    )
    most = 1.25 * max([*values, 1e-6])
    fig.update_xaxes(title_text=axis, tickformat=".0%" if most > 0.06 else ".2%", range=[0, most])
    fig.update_yaxes(autorange="reversed", tickfont={"size": FONT_SIZE})
    fig.update_layout(height=90 + 52 * len(names), title=title, margin={"l": 4, "r": 40, "b": 4})
    return fig


def by_way(
    arms: Mapping[str, Mapping[str, Sequence[float]]], axis: str, title: str, *, percent: bool = False
) -> go.Figure:
    """For each arm and way: one dot per seed, their mean and standard deviation. arms: name → way → values of seeds."""
    ways = list(dict.fromkeys(way for results in arms.values() for way in results))
    looks = dict(zip(ways, ((ORANGE, "diamond"), (BLUE, "circle"), (PINK, "square")), strict=False))
    names = [literal(name) for name in arms]
    foot, step = 20, 24  # pixels: to the foot of a row's name, which is on top, and from mark to mark
    high = 26 + step * len(ways)
    fig = go.Figure()
    for way in ways:
        colour, symbol = looks[way]
        shift = (foot + step * (ways.index(way) + 0.95)) / high - 0.5
        at = [place + shift for place, results in enumerate(arms.values()) if way in results]
        values = [results[way] for results in arms.values() if way in results]
        means = [statistics.fmean(one) for one in values]
        spread = [statistics.stdev(one) if len(one) > 1 else 0.0 for one in values]
        form = ".0%" if percent else ".2f"
        fig.add_scatter(
            x=means,
            y=at,
            mode="markers+text",
            name=literal(way),
            textposition="top center",
            text=[f"{mean:.0%}" if percent else number(mean) for mean in means],
            textfont={"size": SMALL},
            marker={"color": colour, "symbol": symbol, "size": 14},
            error_x={"type": "data", "array": spread, "thickness": 2, "width": 6},
            hovertemplate=f"{literal(way)}: %{{x:{form}}}<extra></extra>",
        )
        fig.add_scatter(
            x=[value for one in values for value in one],
            y=[y for y, one in zip(at, values, strict=True) for _ in one],
            mode="markers",
            showlegend=False,
            hoverinfo="skip",
            marker={"color": colour, "symbol": f"{symbol}-open", "size": 7},
        )
    seen = [value for results in arms.values() for values in results.values() for value in values]
    fit_axis(fig, seen, title_text=axis, tickformat=".0%" if percent else None)
    name_rows_above(fig, names, 0.5 - foot / high, showgrid=True, tickfont={"size": FONT_SIZE})
    fig.update_layout(
        height=130 + high * len(names),
        title=title,
        margin={"l": 4, "r": 8, "b": 4},
        legend=LEGEND_ABOVE | {"font": {"size": SMALL}},
    )
    return fig
