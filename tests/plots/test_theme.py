"""Colours that anyone can tell apart, type for the back row, nothing a figure has set itself overridden."""

import html
import textwrap
from itertools import combinations

import plotly.graph_objects as go
import pytest

from plots import theme

# Viénot, Brettel & Mollon 1999: linear RGB as seen without the long- or the middle-wavelength cones.
DICHROMATS = {
    "protan": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deutan": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def lab(rgb: list[float]) -> tuple[float, float, float]:
    """CIELAB under D65."""
    matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(m * c for m, c in zip(row, rgb, strict=True)) for row in matrix]
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (xyz[0] / 0.9505, xyz[1], xyz[2] / 1.089)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def distance(a: list[float], b: list[float]) -> float:
    return sum((x - y) ** 2 for x, y in zip(lab(a), lab(b), strict=True)) ** 0.5


@pytest.mark.parametrize("vision", [None, *DICHROMATS])
def test_colours_stay_apart(vision):
    def seen(colour):
        rgb = linear(colour)
        if vision is None:
            return rgb
        return [max(0.0, sum(m * c for m, c in zip(row, rgb, strict=True))) for row in DICHROMATS[vision]]

    for one, other in combinations(theme.PALETTE, 2):
        assert distance(seen(one), seen(other)) > 10, (one, other)


def test_words_without_a_colour_of_their_own_have_the_page_s():
    fig = go.Figure()
    fig.add_scatter(x=[1], y=[1], mode="markers+text", text=["on the page"])
    fig.add_scatter(x=[1], y=[1], mode="text", text=["blue"], textfont_color=theme.BLUE)
    fig.add_bar(x=[1], y=[1], text=["in it or above"])
    fig.add_bar(x=[1], y=[1], text=["white"], textfont_color="white")
    fig.add_annotation(text="a panel's name", showarrow=False)
    fig.add_annotation(text="green", font_color=theme.GREEN, showarrow=False)
    theme.apply(fig)
    points, coloured, bars, inked = fig.data
    assert points.textfont.color == theme.WORDS and coloured.textfont.color == theme.BLUE
    assert bars.outsidetextfont.color == theme.WORDS and inked.outsidetextfont.color is None
    assert bars.textfont.color is None and bars.insidetextfont.color is None, "plotly takes what is read on the bar"
    assert [note.font.color for note in fig.layout.annotations] == [theme.WORDS, theme.GREEN]


def test_percents_of_a_narrow_range_do_not_repeat_on_an_axis():
    fig = theme.apply(go.Figure().update_yaxes(tickformat=".0%").update_xaxes(tickformat=".1f"))
    assert (fig.layout.yaxis.tickformat, fig.layout.xaxis.tickformat) == (".2~%", ".1f")


def test_a_text_is_broken_where_its_language_allows_and_never_within_an_escape():
    english = "difference to the left-to-right model, lower is better; BERT’s own fine-tuning"
    chinese = "困惑度（越低越好）：与 BERT-base 的差，单位为分；“前缀”的准确率为 95%、共 12 层。"
    escaped = html.escape("<b>我</b>&<i>x</i> " * 9 + "x" * 99, quote=False)
    for most in range(10, 40):
        assert theme.broken(english, most).split("<br>") == textwrap.wrap(english, most)
        for text in (chinese, escaped):
            lines = [html.unescape(line) for line in theme.broken(text, most).split("<br>")]
            assert max(map(theme.columns, lines)) <= most
            assert not any(line[0] in "，。：；）、”" or line[-1] in "（“ " for line in lines)
            assert "".join("".join(lines).split()) == "".join(html.unescape(text).split())
    for text, last in (("一二三四五，六七", "五，六七"), ("一二三 12 层数", "12\xa0层数"), ("一二三四五六", "五六")):
        assert theme.broken(text, 10).endswith("<br>" + last)


def test_small_type_grows_and_what_is_set_stays():
    fig = go.Figure(go.Bar(y=[1]), layout={"font": {"size": 9}, "paper_bgcolor": "red", "title": {"text": "T"}})
    fig.update_xaxes(tickfont={"size": 6}, gridcolor="blue")
    fig.update_yaxes(tickfont={"size": 20})
    assert theme.apply(fig) is fig
    once = fig.to_json()
    assert theme.apply(fig).to_json() == once
    assert fig.layout.font.size == fig.layout.xaxis.tickfont.size == theme.SMALL
    assert fig.layout.yaxis.tickfont.size == 20
    assert (fig.layout.paper_bgcolor, fig.layout.xaxis.gridcolor) == ("red", "blue")
    assert fig.layout.plot_bgcolor == "rgba(0,0,0,0)"


def enlarged(fig: go.Figure, factor: float) -> go.Figure:
    parts = fig.to_dict()
    theme.enlarge(parts, factor)
    return go.Figure(parts)


def test_an_enlarged_figure_has_larger_type():
    fig = go.Figure(go.Scatter(y=[1, 2], marker={"size": [6, 8]}, textfont={"size": 14}), layout={"height": 400})
    fig.add_annotation(text="here", font={"size": 20}, xshift=4)
    large = enlarged(theme.apply(fig), 1.5)
    assert large.layout.xaxis.tickfont.size == 1.5 * theme.SMALL and large.data[0].textfont.size == 21
    assert list(large.data[0].marker.size) == [9, 12]
    assert (large.layout.annotations[0].font.size, large.layout.annotations[0].xshift) == (30, 6)
    assert large.layout.margin.t == 1.5 * fig.layout.margin.t
    for height, grown in ((None, 585), (400, 520), (600, 620), (900, 900)):  # while it fits on a projector
        parts = go.Figure(layout={"height": height}).to_dict()
        assert theme.enlarge(parts, 1.3) is (grown < 620)  # else it cannot be taken back as a whole
        assert parts["layout"]["height"] == grown
