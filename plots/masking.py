"""Figures of masking: masks in each epoch, predictions at a blank, two contexts over the whole vocabulary, the
encoder's input, and the paper's ablation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from plots.attention import literal
from plots.grammar import MASK, RIGHT
from plots.marks import LEGEND_ABOVE, name_rows, panels
from plots.theme import BLUE, FONT_SIZE, GREEN, GREY, SKY, SMALL, VERMILION, titled

# Keys: cloze.FATES. Fates differ by letter as well as by colour; the letters are black on every colour.
FATE_COLOURS = {"untouched": "rgba(138,143,152,0.22)", "masked": MASK, "random": VERMILION, "kept": SKY}
FATE_LETTERS = {"untouched": "", "masked": "M", "random": "R", "kept": "K"}
FATE_NAMES = {"untouched": "not chosen", "masked": "[MASK]", "random": "random token", "kept": "kept"}


def percent(share: float) -> str:
    """A readable percentage: 97.1 %, 2.3 %, 0.14 %, 0.0021 %; two significant digits below 1 %."""
    value = share * 100
    decimals = 1 if value >= 1 or value == 0 else min(1 - math.floor(math.log10(value)), 12)
    return f"{value:.{decimals}f}\u00a0%"


def mask_rows(
    tokens: Sequence[str],
    rows: Sequence[Sequence[str]],
    row_names: Sequence[str],
    *,
    names: Mapping[str, str] = FATE_NAMES,
    title: str = "",
) -> go.Figure:
    """Several maskings of the same sentence, one row each. rows: for each masking, a fate (cloze.FATES) per token."""
    fig = go.Figure()
    columns = list(range(len(tokens)))
    for fate, colour in FATE_COLOURS.items():
        cells = [[1 if cell == fate else None for cell in row] for row in rows]
        letters = [[FATE_LETTERS[fate] if cell == fate else "" for cell in row] for row in rows]
        fig.add_heatmap(
            z=cells,
            x=columns,
            y=list(range(len(rows))),
            name=f"{FATE_LETTERS[fate]} {literal(names[fate])}".strip(),
            text=letters,
            texttemplate="%{text}",
            textfont={"size": FONT_SIZE, "color": "#111111"},
            customdata=[[literal(token) for token in tokens] for _row in rows],
            hovertemplate=f"%{{customdata}}: {literal(names[fate])}<extra></extra>",
            hoverongaps=False,
            colorscale=[[0, colour], [1, colour]],
            zmin=0,
            zmax=1,
            showscale=False,
            showlegend=True,
            xgap=2,
            ygap=4,
        )
    fig.update_xaxes(
        tickmode="array",
        tickvals=columns,
        ticktext=[literal(token) for token in tokens],
        tickangle=-60 if len(tokens) > 8 else 0,
        side="top",
        showgrid=False,
        range=[-0.5, max(len(tokens), 12) - 0.5],  # a short sentence gets cells, not slabs
    )
    fig.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(rows))),
        ticktext=[literal(name) for name in row_names],
        autorange="reversed",
        showgrid=False,
    )
    longest = max((len(token) for token in tokens), default=1)
    top = 40 + (8 * min(longest, 16) if len(tokens) > 8 else 0)
    fig.update_layout(
        height=top + 44 * max(len(rows), 1) + 60,
        legend={"orientation": "h", "yanchor": "top", "y": -0.04, "x": 0, "itemclick": False, "itemdoubleclick": False},
    )
    return titled(fig, title)


# Highlighted bars: the original token, and the random one shown instead.
ROLE_COLOURS = {"true": RIGHT, "shown": FATE_COLOURS["random"]}
ROLE_SYMBOLS = {"true": "★", "shown": "◆"}


@dataclass(frozen=True)
class Blank:
    """A model's predictions at one position. tokens, probs: its bars, from the top · notes: index of a bar → short note
    · roles: index of a bar → key of ROLE_COLOURS; it has a colour and a symbol."""

    title: str
    tokens: Sequence[str]
    probs: Sequence[float]
    notes: Mapping[int, str] = field(default_factory=dict)
    roles: Mapping[int, str] = field(default_factory=dict)


def expected_tokens(
    blanks: Sequence[Blank], *, columns: int = 3, title: str = "", axis: str = "probability"
) -> go.Figure:
    """Horizontal bars of probability, one panel per blank, all on one scale. With a title, a single panel shows no name
    of its own."""
    named = len(blanks) > 1 or not title
    columns = max(1, min(columns, len(blanks)))
    rows = max(1, math.ceil(len(blanks) / columns))
    bars = max((len(blank.tokens) for blank in blanks), default=1)
    height = 34 * bars + 56  # of one row of panels
    fig = panels(
        [literal(blank.title) for blank in blanks] if named else [],
        rows=rows,
        columns=columns,
        size=FONT_SIZE + 1,
        horizontal_spacing=0.14 if columns > 1 else 0,
        vertical_spacing=56 / (height * rows) if rows > 1 else 0,
    )
    room = {1: 1.2, 2: 1.4}.get(columns, 1.6)  # the numbers stand beyond the bars
    for index, blank in enumerate(blanks):
        row, column = index // columns + 1, index % columns + 1
        places = list(range(len(blank.tokens)))
        fig.add_bar(
            x=list(blank.probs),
            y=places,
            orientation="h",
            width=0.72,
            marker_color=[ROLE_COLOURS[blank.roles[i]] if i in blank.roles else GREY for i in places],
            text=[
                percent(p) + (f"  {literal(blank.notes[i])}" if i in blank.notes else "")
                for i, p in enumerate(blank.probs)
            ],
            textposition="outside",
            textfont_size=SMALL,
            cliponaxis=False,
            customdata=[literal(token) for token in blank.tokens],
            hovertemplate="%{customdata}: %{text}<extra></extra>",
            showlegend=False,
            row=row,
            col=column,
        )
        fig.update_yaxes(
            tickmode="array",
            tickvals=places,
            ticktext=[
                (f"{ROLE_SYMBOLS[blank.roles[i]]} " if i in blank.roles else "") + f"{literal(token)} "
                for i, token in enumerate(blank.tokens)
            ],
            tickfont_size=FONT_SIZE,
            range=[bars - 0.4, -0.6],
            showgrid=False,
            row=row,
            col=column,
        )
    fig.update_xaxes(range=[0, room], tickvals=[0, 0.5, 1], tickformat=".0%", showticklabels=False)
    fig.update_xaxes(title_text=literal(axis), title_font_size=SMALL, title_standoff=4, showticklabels=True, row=rows)
    fig.update_layout(height=rows * height + 68, margin_t=44 if named else 8, bargap=0.2)
    return titled(fig, title)


SPOTS = (300, 180)  # resolution of the scatter plot, horizontal and vertical: points closer than this are merged


def two_contexts(
    tokens: Sequence[str],
    log_p: np.ndarray,
    log_q: np.ndarray,
    movers: Sequence[int],
    *,
    axes: tuple[str, str] = ("probability in A", "probability in B"),
    names: tuple[str, str, str] = ("every token", "likelier in A", "likelier in B"),
    title: str = "",
) -> go.Figure:
    """The whole vocabulary, one point per token: its probability in one context over that in another.

    log_p, log_q: (V,) natural logarithms · movers: ids to mark and, if there is room, to name, by importance.
    Tokens at nearly the same position share a point, whose label gives the number of others: thirty thousand points
    would need WebGL, which not every classroom's browser has.
    """
    log_p, log_q = np.asarray(log_p, dtype=float), np.asarray(log_q, dtype=float)
    p, q = np.exp(log_p), np.exp(log_q)
    low = min(log_p.min(), log_q.min(), -5) / math.log(10) - 0.2  # lower end of the axes, as an exponent of ten
    labels = np.array([literal(token) for token in tokens], dtype=object)
    spots = np.stack([log_p * SPOTS[0], log_q * SPOTS[1]]) / (math.log(10) * -low)  # (2, V)
    _, shown, sharing = np.unique(spots.round(), axis=1, return_index=True, return_counts=True)
    hover = "%{customdata}<br>A %{x:.2p}<br>B %{y:.2p}<extra></extra>"
    fig = go.Figure()
    fig.add_scatter(
        x=p[shown],
        y=q[shown],
        mode="markers",
        name=literal(names[0]),
        marker={"size": 5, "color": GREY, "opacity": 0.6},
        customdata=[
            label + (f" +{count - 1}" if count > 1 else "") for label, count in zip(labels[shown], sharing, strict=True)
        ],
        hovertemplate=hover,
    )
    fig.add_scatter(
        x=[10.0**low, 1],
        y=[10.0**low, 1],
        mode="lines",
        line={"color": GREY, "width": 2, "dash": "dash"},
        hoverinfo="skip",
        showlegend=False,
    )
    sides = _name_sides(movers, log_p / math.log(10), log_q / math.log(10), tokens, low)
    for name, colour, symbol, mine in (
        (names[1], BLUE, "circle", [i for i in movers if p[i] > q[i]]),
        (names[2], VERMILION, "diamond", [i for i in movers if p[i] <= q[i]]),
    ):
        fig.add_scatter(
            x=p[mine],
            y=q[mine],
            mode="markers+text",
            name=literal(name),
            marker={"size": 12, "color": colour, "symbol": symbol, "line": {"width": 1, "color": "white"}},
            text=[labels[i] if i in sides else "" for i in mine],
            textposition=[sides.get(i, "middle right") for i in mine],
            textfont_size=FONT_SIZE,
            cliponaxis=False,
            customdata=labels[mine],
            hovertemplate=hover,
        )
    decades = range(0, math.floor(low), -max(1, math.ceil(-low / 7)))
    axis = {
        "type": "log",
        "range": [low, 0.25],
        "tickmode": "array",
        "tickvals": [10.0**decade for decade in decades],
        "ticktext": [_decade(decade) for decade in decades],
    }
    fig.update_layout(
        xaxis={**axis, "title_text": literal(axes[0])},
        yaxis={**axis, "title_text": literal(axes[1])},
        height=640,
        legend=LEGEND_ABOVE,
    )
    return titled(fig, title)


def _decade(exponent: int) -> str:
    return f"{10.0**exponent:g}" if exponent > -3 else f"10<sup>{exponent}</sup>"


def _name_sides(
    movers: Sequence[int], x: np.ndarray, y: np.ndarray, tokens: Sequence[str], low: float
) -> dict[int, str]:
    """Id → side of its point for the name, such that no name covers another or a marked point; names without room are
    left out. Placed in the order of `movers`, assuming a figure of 1000 × 520 pixels."""
    across, up = 1000 / (0.25 - low), 520 / (0.25 - low)  # pixels a decade
    points = {i: (x[i] * across, y[i] * up) for i in movers}
    taken = [(px - 7, py - 7, px + 7, py + 7) for px, py in points.values()]
    sides = {}
    for i in movers:
        px, py = points[i]
        width = 9 * len(tokens[i]) + 4
        # Away from the diagonal, where most points lie.
        side, beyond, back = ("right", "bottom", "top") if x[i] > y[i] else ("left", "top", "bottom")
        lefts = {"right": px + 9, "left": px - 9 - width, "center": px - width / 2}
        bottoms = {"middle": py - 10, "top": py + 9, "bottom": py - 29}
        for vertical, horizontal in (("middle", side), (beyond, side), (beyond, "center"), (back, side)):
            left, bottom = lefts[horizontal], bottoms[vertical]
            box = (left, bottom, left + width, bottom + 20)
            if all(box[2] < t[0] or t[2] < box[0] or box[3] < t[1] or t[3] < box[1] for t in taken):
                sides[i] = f"{vertical} {horizontal}"
                taken.append(box)
                break
    return sides


def what_is_read(
    rate: float,
    split: tuple[float, float, float],
    *,
    rows: tuple[str, str] = ("Pre-training reads", "Fine-tuning reads"),
    names: Mapping[str, str] = FATE_NAMES,
    title: str = "",
) -> go.Figure:
    """Expected shares of untouched, masked, random and kept tokens in the encoder's input. rate: share of tokens
    selected · split: shares of [MASK], random and kept among these."""
    to_mask, to_random, to_keep = split
    shares = {"untouched": 1 - rate, "masked": rate * to_mask, "random": rate * to_random, "kept": rate * to_keep}
    fig = go.Figure()
    for fate, share in shares.items():
        both = [share, 1.0 if fate == "untouched" else 0.0]
        fig.add_bar(
            x=both,
            y=[literal(row) for row in rows],
            orientation="h",
            width=0.6,
            name=f"{literal(names[fate])}  {percent(share)}",
            marker={"color": GREY if fate == "untouched" else FATE_COLOURS[fate], "line": {"width": 0}},
            text=[percent(value) if value > 0.06 else "" for value in both],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"size": FONT_SIZE, "color": "#111111"},
            hovertemplate=f"{literal(names[fate])}: %{{x:.1%}}<extra></extra>",
        )
    fig.update_layout(
        barmode="stack",
        height=230,
        legend={"orientation": "h", "yanchor": "top", "y": -0.02, "x": 0, "traceorder": "normal"},
    )
    fig.update_xaxes(range=[0, 1], showticklabels=False, showgrid=False)
    fig.update_yaxes(autorange="reversed", showgrid=False, tickfont_size=FONT_SIZE)
    fig.update_layout(uniformtext={"minsize": SMALL, "mode": "hide"})  # where a bar is too short, the legend says it
    return titled(fig, title)


# Outcome of a strategy compared with the baseline → colour and plotly symbol.
OUTCOMES = {"baseline": (GREEN, "star"), "no worse": (BLUE, "circle"), "worse": (VERMILION, "diamond")}


def ablation(
    strategies: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    *,
    baseline: int = 0,
    unit: str = "%",
    title: str = "",
) -> go.Figure:
    """Scores of several strategies, one panel per metric, with every score written out; all panels span the same number
    of points, so that distances are comparable. baseline: index of the strategy with the dotted line."""
    span = max(max(values) - min(values) for values in scores.values()) + 0.9
    fig = panels(map(literal, scores), columns=len(scores), shared_yaxes=True, horizontal_spacing=0.04)
    places = list(range(len(strategies)))
    for column, values in enumerate(scores.values(), 1):
        first = (min(values) + max(values) - span) / 2
        looks = [
            OUTCOMES["baseline" if i == baseline else "no worse" if v >= values[baseline] else "worse"]
            for i, v in enumerate(values)
        ]
        fig.add_scatter(
            x=list(values),
            y=places,
            mode="markers+text",
            marker={"size": 16, "color": [colour for colour, _ in looks], "symbol": [symbol for _, symbol in looks]},
            text=[f"{value:.1f} " if value < values[baseline] else f" {value:.1f}" for value in values],
            textposition=["middle left" if value < values[baseline] else "middle right" for value in values],
            textfont_size=FONT_SIZE,
            hovertemplate=f"%{{x:.1f}} {unit}<extra></extra>",
            showlegend=False,
            row=1,
            col=column,
        )
        fig.add_vline(x=values[baseline], line={"color": GREY, "width": 2, "dash": "dot"}, row=1, col=column)
        fig.update_xaxes(
            range=[first - 0.2, first + span + 0.2], showticklabels=False, showgrid=False, row=1, col=column
        )
    names = ["<br>".join(map(literal, name.split(" · "))) for name in strategies]
    name_rows(fig, names, 0.6, 0.6, tickfont_size=SMALL, showgrid=None)
    fig.update_layout(height=56 + 56 * len(strategies), margin_t=48)
    return titled(fig, title)
