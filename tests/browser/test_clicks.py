"""A click on a mark of a figure chooses, on every page with such a figure. Every day Attention's own test does it."""

import re

import pytest

from minibert.inside.relatives.family import family
from sections.family.subject import FILE
from tests.browser.driver import MINUTES, click_point, expect, open_page

SENTENCE = "The man looked at the house."
# page, what stands in its link, figure, which of its marks (None: the one top right · a name: of the family), what
# stands in the link then
FIGURES = {
    "number": ("attention", {"padding": 0, "sentence": SENTENCE}, "attention-vectors", 20, r"row=1.*number="),
    "head": (
        "attention",
        {"part": "All heads", "model": "mini-en", "padding": 0, "sentence": SENTENCE},
        "attention-heads",
        5,
        "layer=2.*head=2",
    ),
    "ranked": (
        "attention_explorer",
        {"part": "Switch heads off", "model": "mini-en", "sentence": SENTENCE},
        "explorer-ranking",
        0,
        r"(layer|head)=\d",
    ),
    "relation": (
        "attention_explorer",
        {"part": "Kinds of heads", "by": "word", "model": "mini-en", "relation": 4},
        "explorer-relations",
        4,
        "relation=5",
    ),
    "circuit": ("encoder_decoder", {"part": "The block"}, "ed-circuit", -1, "step=7"),
    "mask": ("encoder_decoder", {"part": "Three masks", "sentence": "one two three four"}, "ed-masks", 0, "position=1"),
    "tree": ("family", {}, "wide-family-tree", "ALBERT", r"model=\d"),
    "position": ("home", {"part": "Who may look where"}, "see-BERT", None, "word=7"),
    "order": ("xlnet", {"order": "right"}, "orders", 0, r"(row|column|stream)="),
    "model": ("parameters", {"L": 12, "view": "The family"}, "family-figure", 0, r"L=2\b"),
}


@pytest.mark.release
@pytest.mark.parametrize(("name", "query", "figure", "mark", "link"), FIGURES.values(), ids=FIGURES)
def test_a_click_on_a_mark_chooses_it(page, name, query, figure, mark, link):
    if isinstance(mark, str):
        mark = list(family(FILE)).index(mark)
        link = f"model={mark + 1}"
    open_page(page, name, **query)
    assert not re.search(link, page.url)
    figure = page.locator(f".st-key-{figure}")
    expect(figure.locator(".scatterlayer .point").first).to_be_attached(timeout=MINUTES)
    if mark is None:
        boxes = [point.bounding_box() for point in figure.locator(".scatterlayer .point").all()]
        mark = max(range(len(boxes)), key=lambda i: (round(boxes[i]["x"]), -boxes[i]["y"]))
    click_point(page, figure, mark)
    expect(page).to_have_url(re.compile(link))
