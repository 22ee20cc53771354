"""Models that learned a spurious cue: accuracy where it helps, is uninformative, or misleads."""

import statistics
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from plots.theme import BLUE, GREEN, GREY, LEGEND_ABOVE, VERMILION, add_line, add_marks, add_text, broken, titled

# Keys: minibert.inside.predictions.spurious_cues.CONDITIONS of the test set.
STYLE = {
    "planted": (VERMILION, "solid", "circle"),
    "balanced": (GREEN, "dash", "square"),
    "flipped": (BLUE, "dot", "diamond"),
}


def accuracy_over_steps(
    curves: Mapping[str, Mapping[str, Sequence[Sequence[tuple[int, float]]]]],
    trainings: Mapping[str, str],
    tests: Mapping[str, str],
    chance: float,
    titles: tuple[str, str],
) -> go.Figure:
    """One panel per training set, one line per seed. curves: training → test → (step, accuracy)s of each seed."""
    fig = make_subplots(
        rows=1,
        cols=len(curves),
        subplot_titles=[broken(trainings[name], 14) for name in curves],
        shared_yaxes=True,
        horizontal_spacing=0.06,
    )
    for column, by_test in enumerate(curves.values(), 1):
        for test, seeds in by_test.items():
            for seed, points in enumerate(seeds):
                add_line(
                    fig,
                    [step for step, _ in points],
                    [share for _, share in points],
                    tests[test],
                    STYLE[test],
                    "%{x}: %{y:.1%}",
                    legendgroup=test,
                    showlegend=column == 1 and seed == 0,
                    opacity=1.0 if seed == 0 else 0.55,
                    row=1,
                    col=column,
                )
    fig.add_hline(y=chance, line={"color": GREY, "dash": "longdash", "width": 1.5})
    fig.update_xaxes(title_text=titles[0], rangemode="tozero")
    fig.update_yaxes(tickformat=".0%", range=[-0.03, 1.05])
    fig.update_yaxes(title_text=titles[1], col=1)
    below = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
    fig.update_layout(height=400, legend=below, uirevision="cues", margin={"t": 60})
    return fig


def final_accuracy(
    finals: Mapping[str, Mapping[str, Sequence[float]]],
    trainings: Mapping[str, str],
    tests: Mapping[str, str],
    chance: float,
    title: str,
    finding: str = "",
) -> go.Figure:
    """One bar per test set, the mean over seeds; one dot per seed. finals: training → test → accuracies · title: of the
    axis · finding: title of the figure. A missing test is shown as a question mark."""
    fig = go.Figure()
    places = {training: place for place, training in enumerate(finals)}
    for test, (colour, _, symbol) in STYLE.items():
        offset = (list(STYLE).index(test) - 1) * 0.27
        shown = {training: by_test[test] for training, by_test in finals.items() if by_test.get(test)}
        at = [places[training] + offset for training in shown]
        for training in finals.keys() - shown.keys():
            fig.add_annotation(x=places[training] + offset, y=0.1, text="<b>?</b>", font={"size": 28}, showarrow=False)
        if not shown:
            continue
        means = [statistics.fmean(values) for values in shown.values()]
        fig.add_bar(
            x=at,
            y=means,
            width=0.24,
            name=tests[test],
            marker={"color": colour, "opacity": 0.85},
            hovertemplate="%{y:.1%}<extra></extra>",
        )
        if any(len(values) > 1 for values in shown.values()):
            add_marks(
                fig,
                [x for x, values in zip(at, shown.values(), strict=True) for _ in values],
                [value for values in shown.values() for value in values],
                {"symbol": symbol, "size": 10, "color": "white", "line": {"width": 2, "color": "black"}},
                hover="%{y:.1%}",
            )
        add_text(
            fig,
            at,
            [max(values) + 0.035 for values in shown.values()],
            [f"{mean:.0%}" for mean in means],
            position="top center",
        )
    fig.add_hline(y=chance, line={"color": GREY, "dash": "longdash", "width": 1.5})
    fig.update_xaxes(
        tickvals=list(places.values()),
        ticktext=[broken(trainings[name], 14) for name in places],
        showgrid=False,
        range=[-0.45, len(places) - 0.55],
    )
    fig.update_yaxes(tickformat=".0%", range=[0, 1.19], title_text=title)
    fig.update_layout(height=330, legend=LEGEND_ABOVE)
    return titled(fig, finding)
