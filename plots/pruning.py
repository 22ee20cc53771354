"""Figures of pruning: heads and neurons by importance, subnetworks by speed and accuracy, accuracy by pruned share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.attention import literal
from plots.marks import add_box, add_level, add_line
from plots.theme import BLUE, GREEN, GREY, ORANGE, PINK, SEQUENTIAL, SMALL, VERMILION, WORDS

BINS = 32  # cells per layer into which its neurons are grouped
LINES = {  # kind → colour, dash, symbol
    "heads": (BLUE, "solid", "circle"),
    "neurons": (VERMILION, "dash", "diamond"),
    "layers": (GREEN, "dot", "square"),
    "weights": (PINK, "dashdot", "x"),
}


def worth(
    heads: Sequence[Sequence[float]],
    neurons: Sequence[Sequence[float]],
    gone: Collection[tuple[int, int]],
    left: Sequence[int],
    words: Mapping[str, str],
) -> go.Figure:
    """Left: one square per head. Right: one row per layer with its neurons, most important first. heads, neurons:
    importance by layer · gone: pruned (layer, head)s, crossed out · left: neurons kept in each layer, marked by a line;
    0 for a removed layer · words: labels of "heads", "neurons", "layer", "head", "worth", "gone"."""
    fig = make_subplots(
        1, 2, column_widths=[0.36, 0.64], horizontal_spacing=0.07, subplot_titles=(words["heads"], words["neurons"])
    )
    left_half, right = ({"row": 1, "col": column} for column in (1, 2))
    layers = [f"{words['layer']} {i + 1}" for i in range(len(heads))]
    cells = [(layer, head, value) for layer, values in enumerate(heads) for head, value in enumerate(values)]
    most = max((abs(value) for *_, value in cells), default=0) or 1.0
    fig.add_scatter(
        x=[str(head + 1) for _, head, _ in cells],
        y=[layers[layer] for layer, *_ in cells],
        mode="markers",
        marker={
            "symbol": "square",
            "size": 38,
            "color": [value / most for *_, value in cells],
            "cmin": 0,
            "cmax": 1,
            "colorscale": SEQUENTIAL,
            "line": {"color": GREY, "width": 1},
        },
        customdata=[[layer, head] for layer, head, _ in cells],
        showlegend=False,
        text=[f"{value:+.4f}" for *_, value in cells],
        hovertemplate=f"%{{y}}, {words['head']} %{{x}}: %{{text}}<extra></extra>",
        **left_half,
    )
    crossed = [(layer, head) for layer, head, _ in cells if (layer, head) in gone]
    fig.add_scatter(
        x=[str(head + 1) for _, head in crossed],
        y=[layers[layer] for layer, _ in crossed],
        mode="markers",
        marker={"symbol": "x", "size": 26, "color": "#FFFFFF", "line": {"color": "#000000", "width": 2}},
        customdata=[list(one) for one in crossed],
        name=words["gone"],
        showlegend=False,
        hovertemplate=f"{words['gone']}<extra></extra>",
        **left_half,
    )
    strips = [binned(values) for values in neurons]
    top = max((max(strip, default=0) for strip in strips), default=0) or 1.0
    fig.add_heatmap(
        z=[[value / top for value in strip] for strip in strips],
        x=[100 * (i + 0.5) / BINS for i in range(BINS)],
        y=layers,
        zmin=0,
        zmax=1,
        colorscale=SEQUENTIAL,
        ygap=16,
        hovertemplate="%{y}: %{z:.2f}<extra></extra>",
        colorbar={"title": {"text": words["worth"], "side": "right"}, "thickness": 14, "tickvals": [0, 0.5, 1]},
        **right,
    )
    for row, (count, values) in enumerate(zip(left, neurons, strict=True)):
        share = 100 * count / max(1, len(values))
        if share < 100:
            look = {"line": {"width": 0}, "fillcolor": GREY, "opacity": 0.75}
            add_box(fig, (share, 100), (row - 0.38, row + 0.38), **look, **right)
        add_level(fig, share, (row - 0.44, row + 0.44), {"color": WORDS, "width": 4}, **right)
    fig.update_yaxes(autorange="reversed", showgrid=False, type="category")
    fig.update_yaxes(showticklabels=False, row=1, col=2)
    fig.update_xaxes(showgrid=False, type="category", title_text=words["head"], row=1, col=1)
    fig.update_xaxes(showgrid=False, ticksuffix=" %", range=[0, 100.6], row=1, col=2)
    fig.update_layout(height=110 + 62 * max(3, len(layers)), margin={"l": 80, "r": 10, "t": 40, "b": 50})
    return fig


def binned(values: Sequence[float]) -> list[float]:
    """Means of |values| in BINS equal groups, largest first; 0 for an empty group."""
    ordered = np.sort(np.abs(np.asarray(values, dtype=float)))[::-1]
    return [float(part.mean()) if len(part) else 0.0 for part in np.array_split(ordered, BINS)]


def parts(
    results: Sequence[tuple[str, float, float]],
    budget: float,
    best: str,
    after: float | None,
    title: str,
    words: Mapping[str, str],
) -> go.Figure:
    """Subnetworks by speed and accuracy; a line joins the Pareto front. results: (name, milliseconds, accuracy with
    inherited weights) · budget: milliseconds · best: name of the chosen one · after: its accuracy after training ·
    words: labels of "x", "y", "front", "budget", "best", "after"."""
    fig = go.Figure()
    front, most = [], -1.0
    for name, x, y in sorted(results, key=lambda one: (one[1], -one[2])):
        if y > most:
            front.append((name, x, y))
            most = y
    fig.add_scatter(
        x=[x for _, x, _ in front],
        y=[100 * y for *_, y in front],
        mode="lines",
        name=words["front"],
        line={"color": GREY, "width": 2, "dash": "dot", "shape": "hv"},
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=[x for _, x, _ in results],
        y=[100 * y for *_, y in results],
        mode="markers",
        showlegend=False,
        text=[literal(name) for name, *_ in results],
        hovertemplate="%{text}: %{x:.2f} ms, %{y:.1f} %<extra></extra>",
        marker={
            "size": 12,
            "color": [BLUE if x <= budget else GREY for _, x, _ in results],
            "symbol": ["circle" if x <= budget else "circle-open" for _, x, _ in results],
            "line": {"width": 2},
        },
    )
    for _name, x, y in (one for one in results if one[0] == best):
        fig.add_scatter(
            x=[x],
            y=[100 * y],
            mode="markers",
            name=words["best"],
            hoverinfo="skip",
            marker={"size": 24, "color": VERMILION, "symbol": "circle-open", "line": {"width": 4}},
        )
        if after is not None:
            fig.add_scatter(
                x=[x],
                y=[100 * after],
                mode="markers",
                name=words["after"],
                marker={"size": 18, "color": GREEN, "symbol": "star"},
                hovertemplate="%{y:.1f} %<extra></extra>",
            )
    fig.add_vline(
        x=budget,
        line={"color": ORANGE, "width": 3, "dash": "dash"},
        annotation_text=literal(words["budget"]),
        annotation_position="bottom left",
        annotation_font_size=SMALL,
    )
    fig.update_xaxes(title_text=words["x"], rangemode="tozero", showgrid=False)
    fig.update_yaxes(title_text=words["y"])
    return finished(fig, title)


def over_shares(
    results: Mapping[str, Mapping[float, tuple[float, float, float]]],
    whole: float,
    title: str,
    words: Mapping[str, str],
) -> go.Figure:
    """Accuracy over the pruned share, one line per kind. results: kind → share → (accuracy before retraining, after it,
    its standard deviation) · whole: of the unpruned model · words: labels of the kinds, "x", "y", "whole"."""
    fig = go.Figure()
    for place, (kind, line) in enumerate(results.items()):
        look = colour, _dash, symbol = LINES[kind]
        shares = sorted(line)
        x = [100 * share + 0.8 * (place - (len(results) - 1) / 2) for share in shares]
        before, after, spread = zip(*([100 * value for value in line[share]] for share in shares), strict=True)
        error = {"type": "data", "array": spread, "color": colour}
        hover = "%{y:.1f} %<extra></extra>"
        add_line(fig, x, after, words[kind], look, size=11, error_y=error, hovertemplate=hover)
        marker = {"size": 11, "symbol": f"{symbol}-open", "color": colour, "line": {"width": 2}}
        fig.add_scatter(x=x, y=before, mode="markers", marker=marker, showlegend=False, hovertemplate=hover)
    fig.add_hline(
        y=100 * whole,
        line={"color": ORANGE, "width": 3, "dash": "dash"},
        annotation_text=words["whole"],
        annotation_position="bottom left",
        annotation_font_size=SMALL,
    )
    fig.update_xaxes(
        title_text=words["x"], tickvals=[25, 50, 75], ticktext=["25 %", "50 %", "75 %"], range=[14, 82], showgrid=False
    )
    fig.update_yaxes(title_text=words["y"])
    return finished(fig, title)


def finished(fig: go.Figure, title: str) -> go.Figure:
    return fig.update_layout(
        title={"text": literal(title), "x": 0, "xanchor": "left"},
        height=380,
        legend={"orientation": "h", "y": 1.14, "x": 0},
        margin={"l": 60, "r": 20, "t": 40, "b": 50},
    )
