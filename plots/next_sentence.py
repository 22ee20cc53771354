"""Figures of next sentence prediction: share of random pairs, single predictions, kinds of pairs, other papers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from plots.attention import literal
from plots.marks import LEGEND_ABOVE, add_level, panels
from plots.theme import BLUE, FONT_SIZE, GREY, ORANGE, SMALL, VERMILION, name_rows_above

LARGE = 20  # type size of numbers that must be legible from the back row
MARGIN = 84  # pixels to the right of the axes, for these numbers


def random_shares(sentences: Sequence[int], shares: Sequence[float], titles: tuple[str, str]) -> go.Figure:
    """Share of random pairs by the number of sentences in a document; dotted: one half. titles: of the two axes."""
    fig = go.Figure(
        go.Scatter(
            x=list(sentences),
            y=list(shares),
            mode="lines+markers+text",
            text=[f"{share:.0%}" for share in shares],
            textposition="top center",
            textfont_size=SMALL,
            cliponaxis=False,
            marker={"size": 12, "color": BLUE},
            line={"color": BLUE, "width": 3},
            hovertemplate="%{x}: %{y:.1%}<extra></extra>",
            showlegend=False,
        )
    )
    fig.add_hline(y=0.5, line={"color": GREY, "width": 2, "dash": "dot"})
    fig.update_xaxes(title_text=literal(titles[0]), dtick=1, showgrid=False)
    fig.update_yaxes(title_text=literal(titles[1]), tickformat=".0%", range=[0, 1.1], tickvals=[0, 0.25, 0.5, 0.75, 1])
    fig.update_layout(height=320)
    return fig


def judgement(rows: Mapping[str, float], names: tuple[str, str] = ("IsNext", "NotNext")) -> go.Figure:
    """One bar per pair, split into the two classes. rows: name of the pair → probability of the first class."""
    fig = go.Figure()
    labels = [literal(row) for row in rows]
    for name, colour, shares in (
        (names[0], BLUE, list(rows.values())),
        (names[1], "rgba(138,143,152,0.35)", [1 - share for share in rows.values()]),
    ):
        fig.add_bar(
            x=shares,
            y=labels,
            orientation="h",
            width=0.66,
            name=literal(name),
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate=f"{literal(name)}: %{{x:.1%}}<extra></extra>",
        )
    for label, share in zip(labels, rows.values(), strict=True):
        _write_beside(fig, label, f"{share:.1%}")
    fig.add_vline(x=0.5, line={"color": GREY, "width": 2, "dash": "dot"})
    fig.update_xaxes(range=[0, 1], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], showgrid=False)
    fig.update_yaxes(autorange="reversed", showgrid=False, tickfont_size=FONT_SIZE)
    fig.update_layout(
        barmode="stack",
        margin_r=MARGIN,
        height=90 + 62 * len(rows),
        legend=LEGEND_ABOVE | {"traceorder": "normal"},
    )
    return fig


def _write_beside(fig: go.Figure, y, text: str) -> None:
    """Write a number in the right margin, in row `y`."""
    fig.add_annotation(
        x=1, xref="paper", xshift=10, y=y, text=f"<b>{text}</b>", xanchor="left", showarrow=False, font_size=LARGE
    )


@dataclass(frozen=True)
class Share:
    """A share with its confidence interval."""

    value: float
    low: float
    high: float


JUDGES = ((BLUE, "circle"), (ORANGE, "diamond"))  # colour and symbol of the first and the second judge


def judged_next(
    kinds: Sequence[str], judges: Mapping[str, Sequence[Share]], wanted: Sequence[float], title: str
) -> go.Figure:
    """For each kind of pair, its name above, the share that each of two judges calls "next", with its interval, and as
    a number.

    wanted: the correct share, a grey line in each row · title: of the axis.
    """
    fig = go.Figure()
    rows = len(kinds)
    for side, ((name, shares), (colour, symbol)) in enumerate(zip(judges.items(), JUDGES, strict=True)):
        places = [row + 0.3 * side - 0.02 for row in range(rows)]
        fig.add_scatter(
            x=[share.value for share in shares],
            y=places,
            mode="markers",
            name=literal(name),
            marker={"size": 17, "color": colour, "symbol": symbol},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [share.high - share.value for share in shares],
                "arrayminus": [share.value - share.low for share in shares],
                "color": colour,
                "thickness": 3,
                "width": 7,
            },
            customdata=[[share.low, share.high] for share in shares],
            hovertemplate=literal(name) + ": %{x:.1%} (%{customdata[0]:.1%} – %{customdata[1]:.1%})<extra></extra>",
        )
        for place, share in zip(places, shares, strict=True):
            _write_beside(fig, place, f"{share.value:.0%}")
    for row, right in enumerate(wanted):
        add_level(fig, right, (row - 0.15, row + 0.42), {"color": GREY, "width": 7}, layer="below")
    fig.update_xaxes(range=[-0.03, 1.03], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], title_text=literal(title))
    name_rows_above(fig, list(map(literal, kinds)), 0.2, tickfont_size=FONT_SIZE)
    return fig.update_layout(height=130 + 92 * rows, margin_r=MARGIN, legend=LEGEND_ABOVE | {"font_size": 16})


def with_and_without(papers: Mapping[str, Mapping[str, tuple[float, float]]], names: tuple[str, str]) -> go.Figure:
    """Change of scores, in points, when next sentence prediction is left out; one panel per paper.

    papers: title → task → (score with, without) · names: legend entries for better and worse without. The scale leaves
    the numbers room on a phone, too.
    """
    tasks = max(map(len, papers.values()))
    changes = {title: {t: round(b - a, 10) for t, (a, b) in scores.items()} for title, scores in papers.items()}
    span = max(abs(change) for rows in changes.values() for change in rows.values()) * 1.9
    height = 44 * tasks + 50  # of one panel with its title
    spacing = 50 / (height * len(papers))
    fig = panels(map(literal, papers), rows=len(papers), size=FONT_SIZE + 1, vertical_spacing=spacing)
    fig.update_annotations(x=1, xanchor="right")  # the names of the rows are left of it
    for row, (title, scores) in enumerate(papers.items(), 1):
        values = list(changes[title].values())
        fig.add_bar(
            x=values,
            y=[f"{literal(task)}  {with_:.1f} → {without:.1f} " for task, (with_, without) in scores.items()],
            orientation="h",
            width=0.62,
            marker_color=[BLUE if change > 0 else VERMILION for change in values],
            text=[f"<b>{change:+.1f}</b>".replace("-", "−") for change in values],
            textposition="outside",
            textfont_size=FONT_SIZE,
            cliponaxis=False,
            hovertemplate="%{y}: %{x:+.1f}<extra></extra>",
            showlegend=False,
            row=row,
            col=1,
        )
        fig.add_vline(x=0, line={"color": GREY, "width": 2}, row=row, col=1)
        fig.update_xaxes(range=[-span, span], showticklabels=False, showgrid=False, row=row, col=1)
        fig.update_yaxes(range=[tasks - 0.4, -0.6], showgrid=False, row=row, col=1)
    for name, colour in zip(names, (BLUE, VERMILION), strict=True):
        fig.add_bar(x=[None], y=[None], name=literal(name), marker_color=colour)
    fig.update_layout(
        height=height * len(papers) + 50,
        margin_t=48,
        legend={"orientation": "h", "yanchor": "top", "y": -0.02, "x": 0, "font_size": SMALL + 1},
    )
    return fig


def trained_and_asked(rows: Mapping[str, tuple[float, float]], questions: tuple[str, str]) -> go.Figure:
    """Accuracy on two questions by training objective. rows: objective → (first, second question), in percent."""
    fig = go.Figure()
    for question, (colour, _symbol), values in zip(questions, JUDGES, zip(*rows.values(), strict=True), strict=True):
        fig.add_bar(
            x=list(values),
            y=[literal(row) for row in rows],
            orientation="h",
            name=literal(question),
            marker_color=colour,
            text=[f"<b>{value:.1f}</b>" for value in values],
            textposition="outside",
            textfont_size=FONT_SIZE + 1,
            cliponaxis=False,
            hovertemplate=f"{literal(question)}: %{{x:.1f}} %<extra></extra>",
        )
    fig.add_vline(x=50, line={"color": GREY, "width": 2, "dash": "dot"})
    fig.update_xaxes(range=[0, 125], tickvals=[0, 50, 100], ticksuffix=" %", showgrid=False)
    fig.update_yaxes(autorange="reversed", showgrid=False)
    fig.update_layout(
        barmode="group",
        bargap=0.28,
        height=100 + 82 * len(rows),
        legend=LEGEND_ABOVE | {"font_size": 16},
    )
    return fig
