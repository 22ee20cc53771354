"""Figures in a notebook: without a network, and on white paper, so that they can be read in a dark theme too."""

import plotly.io
from plotly.io.base_renderers import PlotlyRenderer

PAPER = "white"


class OnPaper(PlotlyRenderer):
    """Plotly's own type, which JupyterLab and VS Code draw with the plotly.js they have."""

    def to_mimebundle(self, fig_dict: dict) -> dict:
        layout = {**fig_dict.get("layout", {}), "paper_bgcolor": PAPER}
        return super().to_mimebundle({**fig_dict, "layout": layout})


def draw_here() -> None:
    """From now on `show()` draws into the notebook."""
    plotly.io.renderers["on_paper"] = OnPaper()
    plotly.io.renderers.default = "on_paper"
