"""Figures of fine-tuned models' predictions: probabilities, similarity, span start and end; and of their mistakes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal
from plots.theme import BLUE, GREEN, GREY, ORANGE, PINK, SKY, SMALL, VERMILION, add_marks, add_text, name_rows

WIDEST = 28  # characters of a name beside a bar
BESIDE = 18  # if any name is longer, all names go above their bars, to leave room for the bars on a phone
ABOVE_WIDEST = 36  # characters of a name above a bar
ALL_NAMED = 20  # up to so many tokens, all are named under their bars
NOTABLE = 0.05  # with more tokens: minimum probability of a named one
ABOVE = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"}  # a legend
OVERLAY = {"fillmode": "overlay", "fgcolor": "rgba(255,255,255,0.55)", "solidity": 0.12, "size": 10}
# Outcome of a prediction → colour, pattern over it, colour of the number in it.
OUTCOMES = {
    "right": (BLUE, "", "white"),
    "exact": (BLUE, "", "white"),
    "silent": (SKY, ".", "black"),
    "border": (ORANGE, "/", "black"),
    "overlap": (ORANGE, "/", "black"),
    "type": (PINK, "x", "black"),
    "both": (VERMILION, "+", "black"),
    "wrong": (VERMILION, "+", "black"),
    "missed": (GREY, "", "black"),
    "invented": (GREEN, ".", "black"),
}


def name_of(text: str, widest: int = WIDEST) -> str:
    """A name escaped for plotly and cut to `widest` characters."""
    line = " ".join(text.split())
    return literal(line if len(line) <= widest else line[: widest - 1] + "…")


def probability_bars(
    names: Sequence[str],
    probs: Sequence[float],
    chosen: Collection[int],
    *,
    thresholds: Sequence[float] | None = None,
    title: str = "",
    threshold_name: str = "",
) -> go.Figure:
    """One bar per name, those in `chosen` in colour and bold; with thresholds, a vertical mark in each bar's row."""
    places = list(range(len(names)))
    above = any(len(name) > BESIDE for name in names)
    shown = [name_of(name, ABOVE_WIDEST if above else WIDEST) for name in names]
    ticks = [f"<b>{name}</b>" if i in chosen else name for i, name in enumerate(shown)]
    fig = go.Figure(
        go.Bar(
            x=list(probs),
            y=places,
            orientation="h",
            showlegend=False,
            width=0.4 if above else 0.68,
            marker={"color": [BLUE if i in chosen else GREY for i in places]},
            customdata=[literal(name) for name in names],
            hovertemplate="%{customdata}: %{x:.2%}<extra></extra>",
        )
    )
    if thresholds is None:
        add_numbers(fig, probs)
    else:  # a number right of the bar could be taken for the threshold's
        add_thresholds(fig, thresholds, threshold_name)
        ticks = [f"{name} · {p:.1%}" for name, p in zip(ticks, probs, strict=True)]
    name_bars(fig, ticks, title, legend=thresholds is not None)
    if above:
        put_names_above(fig, ticks)
    return fig


def add_numbers(fig: go.Figure, values: Sequence[float]) -> None:
    """Write the values as percents right of their bars."""
    add_text(fig, list(values), list(range(len(values))), [f" {value:.1%}" for value in values])


def add_thresholds(fig: go.Figure, thresholds: Sequence[float], name: str) -> None:
    fig.add_scatter(
        x=list(thresholds),
        y=list(range(len(thresholds))),
        mode="markers",
        name=literal(name),
        showlegend=True,
        marker={"symbol": "line-ns", "size": 22, "line": {"width": 3.5, "color": VERMILION}},
        hovertemplate="%{x:.2%}<extra></extra>",
    )


def name_bars(fig: go.Figure, ticks: Sequence[str], title: str, legend: bool) -> None:
    """Set up axes for horizontal bars: names beside them, percents below, and room for a legend on top."""
    name_rows(fig, ticks)
    fig.update_xaxes(range=[0, 1.14], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], title_text=title)
    fig.update_layout(height=34 * len(ticks) + (102 if legend else 76), margin={"t": 30 if legend else 4}, legend=ABOVE)


def put_names_above(fig: go.Figure, ticks: Sequence[str]) -> None:
    """Put the names of horizontal bars above them instead of beside them."""
    add_text(fig, [0] * len(ticks), [place - 0.2 for place in range(len(ticks))], list(ticks), position="top right")
    fig.update_yaxes(showticklabels=False, range=[len(ticks) - 0.5, -0.85])
    fig.update_layout(height=fig.layout.height + 24 * len(ticks), margin={"l": 12})


def similarity_scale(
    predicted: float, low: float, high: float, ends: tuple[str, str], truth: float | None = None
) -> go.Figure:
    """A number line from low to high with the predicted and the true value. ends: labels of low and high."""
    fig = go.Figure()
    fig.add_scatter(
        x=[low, high], y=[0, 0], mode="lines", line={"color": GREY, "width": 6}, hoverinfo="skip", showlegend=False
    )
    fig.add_scatter(
        x=[low, predicted], y=[0, 0], mode="lines", line={"color": BLUE, "width": 6}, hoverinfo="skip", showlegend=False
    )
    points = [(predicted, "circle", BLUE, "top center")]
    if truth is not None:
        points.append((truth, "diamond-open", VERMILION, "bottom center"))
    for value, symbol, colour, position in points:
        fig.add_scatter(
            x=[value],
            y=[0],
            mode="markers+text",
            text=[f"{value:.2f}"],
            textposition=position,
            showlegend=False,
            textfont={"size": 20},
            marker={"symbol": symbol, "size": 20, "color": colour, "line": {"width": 3}},
            hovertemplate="%{x:.2f}<extra></extra>",
            cliponaxis=False,
        )
    whole = list(range(int(low), int(high) + 1))
    for value, words, position in ((low, ends[0], "bottom right"), (high, ends[1], "bottom left")):
        add_text(fig, [value], [-0.25], [literal(words)], position=position)
    room = 0.08 * (high - low)
    fig.update_xaxes(range=[min(low, predicted) - room, max(high, predicted) + room], tickvals=whole, showgrid=False)
    fig.update_yaxes(visible=False, range=[-1, 1.3])
    fig.update_layout(height=150, margin={"t": 4})
    return fig


def span_probabilities(
    tokens: Sequence[str],
    starts: Sequence[float],
    ends: Sequence[float],
    span: tuple[int, int] | None,
    titles: tuple[str, str],
) -> go.Figure:
    """P(start) above, P(end) below, one bar per token. span: (first, last) token, shaded · titles: of the two rows.

    With more than ALL_NAMED tokens only likely start or end tokens are named; the others on hover.
    """
    places = list(range(len(tokens)))
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    top = max(0.25, 1.08 * max([*starts, *ends]))
    for row, (values, colour) in enumerate(((starts, BLUE), (ends, ORANGE)), 1):
        fig.add_bar(
            x=places,
            y=list(values),
            row=row,
            col=1,
            showlegend=False,
            width=0.8,
            marker={"color": colour, "line": {"width": 0}},
            customdata=[literal(token) for token in tokens],
            hovertemplate="%{customdata}: %{y:.2%}<extra></extra>",
        )
        fig.update_yaxes(range=[0, top], tickformat=".0%", nticks=5, title_text=titles[row - 1], row=row, col=1)
    if span is not None:
        fig.add_vrect(span[0] - 0.5, span[1] + 0.5, fillcolor=GREEN, opacity=0.18, line_width=0, layer="below")
    named = named_tokens(starts, ends, span)
    fig.update_xaxes(range=[-0.7, len(tokens) - 0.3], showgrid=False)
    fig.update_xaxes(tickvals=named, ticktext=[name_of(tokens[i]) for i in named], tickangle=-60, row=2, col=1)
    fig.update_layout(height=380, bargap=0.1, margin={"t": 8})
    return fig


def named_tokens(starts: Sequence[float], ends: Sequence[float], span: tuple[int, int] | None) -> list[int]:
    """Tokens to name under the bars: all if few; else span and likeliest ends, none too close to a likelier one."""
    if len(starts) <= ALL_NAMED:
        return list(range(len(starts)))
    apart = len(starts) / ALL_NAMED
    likely = sorted(range(len(starts)), key=lambda i: -max(starts[i], ends[i]))
    first = list(span or ())
    named: list[int] = []
    for i in [*first, *likely]:
        if (i in first or max(starts[i], ends[i]) >= NOTABLE) and all(abs(i - other) >= apart for other in named):
            named.append(i)
    return sorted(named)


def similarity_scatter(
    truth: Sequence[float],
    predicted: Sequence[float],
    texts: Sequence[str],
    worst: Sequence[int],
    titles: tuple[str, str],
    high: float,
) -> go.Figure:
    """True × predicted score; on the dashed diagonal they are equal. worst: indices of points drawn as diamonds, with a
    line to the diagonal."""
    fig = go.Figure()
    fig.add_scatter(
        x=[0, high],
        y=[0, high],
        mode="lines",
        line={"color": GREY, "dash": "dash", "width": 2},
        hoverinfo="skip",
        showlegend=False,
    )
    for i in worst:
        fig.add_scatter(
            x=[truth[i]] * 2,
            y=[truth[i], predicted[i]],
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            line={"color": VERMILION, "width": 2},
        )
    others = [i for i in range(len(truth)) if i not in set(worst)]
    for group, marker in (
        (others, {"symbol": "circle", "size": 9, "color": BLUE, "opacity": 0.6}),
        (list(worst), {"symbol": "diamond", "size": 13, "color": VERMILION}),
    ):
        add_marks(
            fig,
            [truth[i] for i in group],
            [predicted[i] for i in group],
            marker,
            customdata=[literal(texts[i]) for i in group],
            hover="%{customdata}<br>%{x:.1f} → %{y:.2f}",
        )
    fig.update_xaxes(title_text=titles[0], range=[-0.2, high + 0.2], dtick=1)
    low = min([0.0, *predicted])
    fig.update_yaxes(title_text=titles[1], range=[low - 0.3, max([high, *predicted]) + 0.5], dtick=1)
    fig.update_layout(height=460, margin={"t": 8})
    return fig


def label_scores(scores: Mapping[str, Mapping[str, float]], words: str, title: str) -> go.Figure:
    """One bar of F1 per label. scores: label → {"f1", "count"} · words: format of the count, such as "n = {n}"."""
    names = list(scores)
    places = list(range(len(names)))
    values = [scores[name]["f1"] for name in names]
    fig = go.Figure(
        go.Bar(
            x=values,
            y=places,
            orientation="h",
            showlegend=False,
            width=0.68,
            marker={"color": BLUE},
            hovertemplate="F1 %{x:.1%}<extra></extra>",
        )
    )
    ticks = [
        f"{name_of(name, BESIDE)} · {words.format(n=int(one['count']))} · <b>{one['f1']:.0%}</b>"
        for name, one in scores.items()
    ]
    name_bars(fig, ticks, title, legend=False)
    return fig


def outcome_bars(counts: Mapping[str, Mapping[str, int]], names: Mapping[str, str], title: str) -> go.Figure:
    """One stacked bar per row. counts: row → outcome → count · names: outcome → label, in the order of the stack."""
    fig = go.Figure()
    rows = list(counts)
    for outcome, words in names.items():
        values = [counts[row].get(outcome, 0) for row in rows]
        if not any(values):
            continue
        colour, pattern, ink = OUTCOMES[outcome]
        fig.add_bar(
            x=values,
            y=list(range(len(rows))),
            orientation="h",
            name=literal(words),
            width=0.62,
            marker={"color": colour, "pattern": {"shape": pattern, **OVERLAY}},
            textangle=0,
            insidetextanchor="middle",
            text=[str(value) if value else "" for value in values],
            textposition="inside",
            textfont={"size": SMALL, "color": ink},
            hovertemplate=f"{literal(words)}: %{{x}}<extra></extra>",
        )
    name_rows(fig, [name_of(row) for row in rows])
    fig.update_xaxes(title_text=title, rangemode="tozero")
    fig.update_layout(height=46 * len(rows) + 130, barmode="stack", legend=ABOVE)
    return fig


def sureness(
    right: Sequence[float], wrong: Sequence[float], names: tuple[str, str], titles: tuple[str, str]
) -> go.Figure:
    """Histogram of predicted probabilities in bins of 0.1, wrong predictions stacked on right ones."""
    fig = go.Figure()
    for values, name, kind in ((right, names[0], "right"), (wrong, names[1], "wrong")):
        colour, pattern, _ink = OUTCOMES[kind]
        fig.add_histogram(
            x=list(values),
            name=literal(name),
            xbins={"start": 0.0, "end": 1.0001, "size": 0.1},
            marker={"color": colour, "pattern": {"shape": pattern, **OVERLAY}},
            hovertemplate="%{x}: %{y}<extra></extra>",
        )
    fig.update_xaxes(title_text=titles[0], range=[0, 1.02], tickformat=".0%", dtick=0.2)
    fig.update_yaxes(title_text=titles[1], rangemode="tozero")
    fig.update_layout(height=340, barmode="stack", bargap=0.05, legend=ABOVE)
    return fig
