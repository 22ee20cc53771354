"""Figure of ELECTRA: effect of the generator's temperature on the discriminator's task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from plots.theme import BLUE, GREEN, SMALL, VERMILION, add_line

LOOKS = ((GREEN, "solid", "circle"), (BLUE, "dash", "diamond"), (VERMILION, "dot", "square"))


def over_temperature(
    lines: Mapping[str, Sequence[float]], temperatures: Sequence[str], here: int | None, titles: tuple[str, str]
) -> go.Figure:
    """Shares over evenly spaced temperatures. lines: name → one share each · here: index of the current temperature."""
    fig = go.Figure()
    places = list(range(len(temperatures)))
    for (name, shares), look in zip(lines.items(), LOOKS, strict=False):
        hover = f"{name}, %{{customdata}}: %{{y:.1%}}"
        add_line(fig, places, list(shares), name, look, hover, size=10, customdata=list(temperatures))
    if here is not None:
        fig.add_vline(x=here, line={"color": "#8A8F98", "width": 3, "dash": "dot"})
    fig.update_xaxes(tickvals=places, ticktext=list(temperatures), title_text=titles[0])
    fig.update_yaxes(tickformat=".0%", range=[0, 1.04], title_text=titles[1])
    fig.update_layout(
        height=380, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": SMALL}}
    )
    return fig
