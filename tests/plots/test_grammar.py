"""Each hue of the course can be seen on both pages, and the style sheet uses the same ones."""

import re
import tomllib

import pytest

from minibert.folders import ROOT
from plots import grammar
from plots.theme import GREY, WORDS, contrast

HUES = {name: value for name, value in vars(grammar).items() if isinstance(value, str) and value.startswith("#")}
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)  # the well-known lightest grey of 4.5 : 1


@pytest.mark.parametrize("side", ["light", "dark"])
def test_hues_are_seen_and_text_is_read_on_what_it_stands(side):
    colours = THEME[side]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        for name, hue in HUES.items():
            assert contrast(hue, colours[ground]) >= 3, name
        for text in ("textColor", "linkColor"):
            assert contrast(colours[text], colours[ground]) >= 4.5
    words = {"light": "#FFFFFF", "dark": colours["backgroundColor"]}[side]  # of a primary button, as style.css has them
    assert contrast(colours["primaryColor"], words) >= 4.5
    for colour in (colours["primaryColor"], GREY):
        assert contrast(colour, colours["backgroundColor"]) >= 3


ORANGE = re.compile("#E69F00|230, ?159, ?0", re.IGNORECASE)
SECOND_OF_A_KIND = {  # beside blue, which is the first
    "style.css": 1,  # the second kind of name that a tagger finds
    "knowledge.css": 2,  # a branch beside the sentence
    "nezha.css": 1,  # a place beside a distance
    "to_write.css": 1,  # what noise has taken, beside the text
    "xlnet.css": 2,  # what is guessed beside what is read
}
SELECTED = {  # style sheet → what is selected in it
    "style.css": (r"tr\.mb-marked", r'mb-token\[aria-current="true"\]'),
    "knowledge.css": (r"\.named > \.box",),
    "nezha.css": (r"\.mb-nezha \.here",),
}


def rgb(colour: str) -> str:
    return ", ".join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))


def style_sheets() -> dict[str, str]:
    folders = (ROOT / "ui", ROOT / "sections")
    return {path.name: path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.css")}


def test_orange_tells_the_second_of_a_kind_and_nothing_else():
    counted = {name: len(ORANGE.findall(css)) for name, css in style_sheets().items()}
    assert {name: count for name, count in counted.items() if count} == SECOND_OF_A_KIND
    for path in sorted((ROOT / "plots").glob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            alone = re.search(r'(add_[vh]line|line=|marker=)\S*.*"color": \[?ORANGE\b', line)
            assert not alone or "dash" in line, f"{path.name}: {line.strip()}"


def test_the_style_sheet_has_the_same_hues_and_what_is_selected_the_text_s_own_colour():
    sheets = style_sheets()
    for rule in ("MASK", "SEGMENT_A", "SEGMENT_B"):  # the hues are those of the figures
        body = re.search(rf"\.mb-{rule.lower().replace('_', '-')} {{(.*?)}}", sheets["style.css"], re.DOTALL)[1]
        assert rgb(HUES[rule]) in body
    for name, selectors in SELECTED.items():
        for selector in selectors:
            assert "currentColor" in re.search(selector + r" \{(.*?)\}", sheets[name])[1], selector
    for what in ("fill", "stroke"):  # in figures, too
        rule = rf'style\*="{what}: rgb\({rgb(WORDS)}\)"\]\)? {{ {what}: currentColor'
        assert re.search(rule, sheets["style.css"])
