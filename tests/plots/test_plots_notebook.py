"""What a notebook gets of a figure."""

from unittest import mock

import plotly.graph_objects as go
import plotly.io
import pytest

from plots.notebook import PAPER, OnPaper, draw_here
from plots.theme import apply


@pytest.fixture
def renderer():
    before = plotly.io.renderers.default
    draw_here()
    yield plotly.io.renderers
    plotly.io.renderers.default = before


def test_a_figure_lies_on_paper_and_asks_no_network():
    figure = apply(go.Figure(go.Bar(y=[1, 2])))
    kind, bundle = OnPaper().to_mimebundle(figure.to_dict()).popitem()
    assert kind == "application/vnd.plotly.v1+json"
    assert bundle["layout"]["paper_bgcolor"] == PAPER
    assert bundle["layout"]["plot_bgcolor"] == figure.layout.plot_bgcolor
    assert "http" not in str(bundle)


def test_the_figure_itself_stays_as_it_was(renderer):
    figure = apply(go.Figure(go.Bar(y=[1, 2])))
    before = figure.to_dict()
    with mock.patch("IPython.display.display") as display:
        figure.show()
    assert figure.to_dict() == before
    assert display.call_args.args[0]["application/vnd.plotly.v1+json"]["layout"]["paper_bgcolor"] == PAPER
