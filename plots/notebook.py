"""Figures in a notebook: work offline, and on a white background, so that they are legible in a dark theme."""

import plotly.io
from plotly.io.base_renderers import PlotlyRenderer

PAPER = "white"


class OnPaper(PlotlyRenderer):
    """Renders plotly's MIME type, which JupyterLab and VS Code draw with their built-in plotly.js."""

    def to_mimebundle(self, fig_dict: dict) -> dict:
        layout = {**fig_dict.get("layout", {}), "paper_bgcolor": PAPER}
        return super().to_mimebundle({**fig_dict, "layout": layout})


def draw_here() -> None:
    """Make `fig.show()` draw into the notebook."""
    plotly.io.renderers["on_paper"] = OnPaper()
    plotly.io.renderers.default = "on_paper"
