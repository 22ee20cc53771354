"""Figures of attribution: methods side by side, their agreement, and tests of their faithfulness."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from plots.attention import literal
from plots.theme import (
    BLUE,
    DIVERGING,
    FONT_SIZE,
    GREEN,
    GREY,
    LEGEND_ABOVE,
    ORANGE,
    PINK,
    SKY,
    SMALL,
    VERMILION,
    WORDS,
    add_line,
    add_marks,
    add_notes,
    name_rows,
)

# Keys: names of attribution.METHODS in minibert. Methods differ by dash and symbol as well as by colour.
STYLE = {
    "gradient": (ORANGE, "dot", "diamond"),
    "integrated": (BLUE, "solid", "circle"),
    "leave_one_out": (GREEN, "dash", "square"),
    "shapley": (VERMILION, "solid", "triangle-up"),
    "rollout": (PINK, "dashdot", "x"),
}
DARK_BELOW = -0.8  # only the deep blue end of the scale is dark enough for white letters (contrast of at least 4.5 : 1)


def _ink(share: float) -> str:
    return "white" if share < DARK_BELOW else "#111111"


def word_grid(
    words: Sequence[str], values: Mapping[str, np.ndarray], names: Mapping[str, str], title: str = ""
) -> go.Figure:
    """One row per word, one column per method, each coloured relative to its largest |value|, whose word is outlined.
    values: method → (words,); NaN is shown as “?”."""
    fig = go.Figure()
    methods = list(values)
    shares = np.array([_shares(values[method]) for method in methods]).T  # (words, methods)
    places = list(range(len(words)))
    fig.add_heatmap(
        z=shares.tolist(),
        x=list(range(len(methods))),
        y=places,
        zmin=-1,
        zmax=1,
        colorscale=DIVERGING,
        showscale=False,
        customdata=[[[literal(word), float(values[m][i]), names[m]] for m in methods] for i, word in enumerate(words)],
        hovertemplate="%{customdata[0]}<br>%{customdata[2]}: %{customdata[1]:+.3f}<extra></extra>",
        xgap=3,
        ygap=2,
    )
    notes = []
    for i in places:
        for j, method in enumerate(methods):
            known = not np.isnan(shares[i, j])
            font = {"size": SMALL, "color": _ink(shares[i, j]) if known else WORDS}
            text = f"{values[method][i]:+.2f}".replace("-", "−") if known else "?"
            notes.append({"x": j, "y": i, "text": text, "showarrow": False, "font": font})
    add_notes(fig, notes)
    columns = {"tickvals": list(range(len(methods))), "ticktext": [names[m] for m in methods]}
    fig.update_xaxes(side="top", showgrid=False, tickangle=0, range=[-0.5, len(methods) - 0.5], **columns)
    name_rows(fig, [literal(word) for word in words], tickfont={"size": FONT_SIZE})
    for j, method in enumerate(methods):
        if np.isnan(values[method]).all():
            continue
        i = int(np.abs(values[method]).argmax())
        fig.add_shape(type="rect", x0=j - 0.49, x1=j + 0.49, y0=i - 0.47, y1=i + 0.47, line={"width": 3, "color": GREY})
    fig.update_layout(height=max(380, 110 + 32 * len(words)), margin={"t": 104}, title=_above(title))
    return fig


def _above(title: str) -> dict:
    """A figure title above column labels at the top."""
    return {"text": title, "y": 0.99, "yanchor": "top"}


def _shares(values: np.ndarray) -> np.ndarray:
    return values / (np.abs(values).max() or 1.0)


def agreement_matrix(matrix: np.ndarray, names: Sequence[str], title: str = "") -> go.Figure:
    """Rank correlations, −1 … 1. matrix: (methods, methods), symmetric; NaN is left empty."""
    fig = go.Figure(
        go.Heatmap(
            z=matrix.tolist(),
            x=(places := list(range(len(names)))),
            y=places,
            customdata=[[[row, column] for column in names] for row in names],
            zmin=-1,
            zmax=1,
            colorscale=DIVERGING,
            showscale=False,
            hovertemplate="%{customdata[0]} and %{customdata[1]}: %{z:.2f}<extra></extra>",
            xgap=3,
            ygap=3,
        )
    )
    notes = []
    for i, row in enumerate(matrix):
        for j, rho in enumerate(row):
            text = "–" if np.isnan(rho) else f"{rho:.2f}".replace("-", "−")
            font = {"size": SMALL, "color": WORDS if np.isnan(rho) else _ink(rho)}
            notes.append({"x": j, "y": i, "text": text, "showarrow": False, "font": font})
    add_notes(fig, notes)
    numbers = [str(place + 1) for place in places]  # columns of a phone are narrower than the names
    fig.update_xaxes(side="top", showgrid=False, tickangle=0, tickvals=places, ticktext=numbers)
    name_rows(fig, [f"{name} <b>{number}</b>" for name, number in zip(names, numbers, strict=True)])
    fig.update_layout(height=130 + 46 * len(names), margin={"t": 104}, title=_above(title))
    return fig


def deletion_curves(
    curves: Mapping[str, np.ndarray],
    random: np.ndarray,
    names: Mapping[str, str],
    titles: tuple[str, str, str],
    title: str = "",
) -> go.Figure:
    """A probability over the number of deleted words. curves: method → (n + 1,) · random: (orders, n + 1), drawn as
    mean and a band of one standard deviation · titles: of the axes and of the random line."""
    fig = go.Figure()
    steps = list(range(random.shape[1]))
    mean, spread = random.mean(0), random.std(0, ddof=1)
    edge = [*np.minimum(mean + spread, 1).tolist(), *np.maximum(mean - spread, 0)[::-1].tolist()]
    fig.add_scatter(
        x=[*steps, *steps[::-1]],
        y=edge,
        fill="toself",
        hoverinfo="skip",
        fillcolor="rgba(138,143,152,0.25)",
        line={"width": 0},
        showlegend=False,
        mode="lines",
    )
    fig.add_scatter(
        x=steps,
        y=mean.tolist(),
        mode="lines",
        name=titles[2],
        line={"color": GREY, "width": 3, "dash": "longdash"},
        customdata=spread.tolist(),
        hovertemplate="%{x}: %{y:.1%} ± %{customdata:.1%}",
    )
    for method, curve in curves.items():
        add_line(fig, steps, list(curve), names[method], STYLE[method], "%{x}: %{y:.1%}")
    fig.update_xaxes(title_text=titles[0], range=[-0.3, len(steps) - 0.7])
    fig.update_yaxes(title_text=titles[1], tickformat=".0%", range=[-0.03, 1.03])
    fig.update_layout(height=460, legend=LEGEND_ABOVE, hovermode="x unified", title={"text": title})
    return fig


def falls(values: Mapping[str, np.ndarray], names: Mapping[str, str], axis: str, title: str = "") -> go.Figure:
    """The deletion test over several texts: a small mark per text, a large one at the mean with its standard error.

    values: method (or "random") → (texts,)"""
    fig = go.Figure()
    for row, (name, points) in enumerate(values.items()):
        colour, _, symbol = STYLE.get(name, (GREY, "", "line-ns"))
        add_marks(
            fig,
            points,
            [row + 0.22] * len(points),
            {"color": colour, "size": 8, "symbol": "circle-open", "line": {"width": 2}},
            opacity=0.6,
            hover="%{x:.1%}",
        )
        error = float(np.std(points, ddof=1) / np.sqrt(len(points))) if len(points) > 1 else 0.0
        add_marks(
            fig,
            [float(np.mean(points))],
            [row - 0.12],
            {"color": colour, "size": 14, "symbol": symbol, "line": {"width": 3, "color": colour}},
            error_x={"array": [error], "thickness": 3, "width": 9, "color": colour},
            hover=f"%{{x:.1%}} ± {error:.1%}",
        )
    fig.add_vline(x=0, line={"color": GREY, "dash": "dash", "width": 1.5})
    name_rows(fig, [names[name] for name in values], range=[len(values) - 0.4, -0.6])
    fig.update_xaxes(title_text=axis, tickformat=".0%")
    fig.update_layout(height=130 + 50 * len(values), title={"text": title})
    return fig


def score_on_the_path(path: np.ndarray, slope: float, axes: tuple[str, str], names: tuple[str, str]) -> go.Figure:
    """The score along the path from the baseline to the input, with the tangent at the input (its gradient).

    path: (points,) at equal steps of the share 0 … 1 · slope: derivative of the score by the share at 1 · names: of
    the path and the tangent.
    """
    fig = go.Figure()
    share = np.linspace(0, 1, len(path))
    fig.add_scatter(
        x=share.tolist(),
        y=path.tolist(),
        mode="lines",
        line={"color": BLUE, "width": 4},
        name=names[0],
        hovertemplate="%{x:.0%}: %{y:+.2f}<extra></extra>",
    )
    tangent = path[-1] - slope * (1 - share)
    reach = float(np.ptp(path)) or 1.0  # of a steep tangent only the end is drawn
    tangent = np.where(np.abs(tangent - path.mean()) <= reach, tangent, np.nan)
    low, high = float(np.nanmin([path, tangent])), float(np.nanmax([path, tangent]))
    margin = 0.1 * (high - low or 1.0)
    fig.add_scatter(
        x=share.tolist(),
        y=[None if np.isnan(y) else float(y) for y in tangent],
        mode="lines",
        name=names[1],
        line={"color": ORANGE, "width": 3, "dash": "dot"},
        hoverinfo="skip",
    )
    fig.update_xaxes(title_text=axes[0], tickformat=".0%")
    fig.update_yaxes(title_text=axes[1], range=[low - margin, high + margin])
    return fig.update_layout(height=360, legend=LEGEND_ABOVE, margin={"r": 20})


def completeness_error(
    steps: Sequence[int], errors: Mapping[str, Sequence[float]], chosen: int, axes: tuple[str, str]
) -> go.Figure:
    """The completeness error over the number of steps, `chosen` marked. errors: rule → one error per step count."""
    fig = go.Figure()
    looks = ((GREEN, "solid", "square"), (SKY, "dash", "diamond"))
    for (name, line), look in zip(errors.items(), looks, strict=False):
        add_line(fig, list(steps), list(line), literal(name), look, "%{x}: %{y:.2g}")
    fig.add_vline(x=chosen, line={"color": GREY, "width": 2, "dash": "dash"})
    fig.update_xaxes(title_text=axes[0], type="log", tickvals=list(steps), ticktext=[str(n) for n in steps])
    fig.update_yaxes(title_text=axes[1], type="log", exponentformat="power", dtick=1)
    return fig.update_layout(height=360, legend=LEGEND_ABOVE)
