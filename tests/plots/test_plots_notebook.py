"""What a notebook gets of a figure."""

from unittest import mock

import plotly.graph_objects as go
import plotly.io

from plots.notebook import PAPER, draw_here
from plots.theme import apply


def test_a_figure_lies_on_paper_asks_no_network_and_stays_as_it_was(monkeypatch):
    monkeypatch.setattr(plotly.io.renderers, "default", plotly.io.renderers.default)
    draw_here()
    figure = apply(go.Figure(go.Bar(y=[1, 2])))
    before = figure.to_dict()
    with mock.patch("IPython.display.display") as display:
        figure.show()
    bundle = display.call_args.args[0]["application/vnd.plotly.v1+json"]
    assert bundle["layout"]["paper_bgcolor"] == PAPER
    assert bundle["layout"]["plot_bgcolor"] == figure.layout.plot_bgcolor
    assert "http" not in str(bundle) and figure.to_dict() == before
