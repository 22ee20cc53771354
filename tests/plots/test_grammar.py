"""Each hue of the course can be seen on both pages, and the style sheet uses the same ones."""

import re
import tomllib
from pathlib import Path

import pytest

from plots import grammar
from plots.theme import contrast

ROOT = Path(__file__).resolve().parents[2]
HUES = {name: value for name, value in vars(grammar).items() if isinstance(value, str) and value.startswith("#")}
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)  # the well-known lightest grey of 4.5 : 1


@pytest.mark.parametrize("side", ["light", "dark"])
@pytest.mark.parametrize("name", HUES)
def test_each_hue_is_seen_on_both_pages(name, side):
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(HUES[name], THEME[side][ground]) >= 3


@pytest.mark.parametrize("side", ["light", "dark"])
def test_text_is_read_on_what_it_stands(side):
    colours = THEME[side]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        for text in ("textColor", "linkColor"):
            assert contrast(colours[text], colours[ground]) >= 4.5
    words = {"light": "#FFFFFF", "dark": colours["backgroundColor"]}[side]  # of a primary button, as style.css has them
    assert contrast(colours["primaryColor"], words) >= 4.5
    assert contrast(colours["primaryColor"], colours["backgroundColor"]) >= 3


@pytest.mark.parametrize(
    ("rule", "hue"), [("mb-mask", "MASK"), ("mb-segment-a", "SEGMENT_A"), ("mb-segment-b", "SEGMENT_B")]
)
def test_the_style_sheet_says_the_same(rule, hue):
    css = (ROOT / "ui" / "style.css").read_text(encoding="utf-8")
    body = re.search(rf"\.{rule} {{(.*?)}}", css, re.DOTALL)[1]
    red, green, blue = (int(HUES[hue][at : at + 2], 16) for at in (1, 3, 5))
    assert f"{red}, {green}, {blue}" in body
