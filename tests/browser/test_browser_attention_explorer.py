"""The attention explorer as a reader meets it: clicks, pictures to keep, no token that runs, nothing that freezes."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from plots.attention_payloads import heads_payload, lines_payload, matrix_payload
from sections.attention_explorer import bertviz, views
from tests.browser.driver import assert_no_markup, expect, open_page, show_answers, type_into, until, wait_idle
from tests.hostile import EVERYTHING, HOSTILE

SENTENCE = "The man looked at the house."  # words that any English vocabulary has whole
EVIL = HOSTILE["script"]
TOKENS = ["[CLS]", EVIL, "<b>b</b>", "a&lt;b", "[SEP]", '" onload="alert(2)', "[SEP]"]


def view(page, name: str):
    return page.locator(f".st-key-explorer-{name}")


def frame(page, name: str):
    return page.locator(f".st-key-bertviz-{name}-a").frame_locator("iframe")


# --- our own views -----------------------------------------------------------------------------------------------


def test_a_head_a_token_and_a_cell_are_clicked_and_the_link_keeps_them(page):
    open_page(page, "attention_explorer", sentence=SENTENCE)
    view(page, "heads").get_by_role("button", name="layer 3, head 2").click()
    expect(page).to_have_url(re.compile("layer=3"))
    wait_idle(page)
    view(page, "lines-a").get_by_role("button", name="from 3 man").click()
    wait_idle(page)
    view(page, "lines-a").get_by_role("button", name="to 7 house").click()
    expect(page.locator(".katex annotation", has_text="p_{3,7}")).to_have_count(1)
    page.reload()
    wait_idle(page)
    show_answers(page)
    expect(page.locator(".katex annotation", has_text="p_{3,7}")).to_have_count(1)
    expect(view(page, "heads").get_by_role("button", name="layer 3, head 2")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("radio", name="matrix").click()
    box = view(page, "matrix-a").locator("canvas")
    expect(box).to_be_visible()
    wait_idle(page)
    side, cell = (float(box.get_attribute(f"data-{name}")) for name in ("side", "cell"))
    box.click(position={"x": side + 1.5 * cell, "y": side + 4.5 * cell})
    expect(page.locator(".katex annotation", has_text="p_{5,2}")).to_have_count(1)
    expect(page).to_have_url(re.compile("row=6.*column=3"))
    view(page, "matrix-a").get_by_role("application").focus()  # and with the keyboard
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".katex annotation", has_text="p_{6,3}")).to_have_count(1)


def ink(lines) -> int:
    """How many pixels of the lines have a colour."""
    return lines.locator("canvas").evaluate(
        "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v).length"
    )


@pytest.mark.parametrize("page", [{"viewport": {"width": 1280, "height": 800}}], indirect=True)
def test_all_heads_are_drawn_pointed_at_and_kept_offline(page):
    open_page(
        page,
        "attention_explorer",
        heads="all",
        layer=2,
        row=1,
        share=100,
        sentence=f"{EVIL} & so on",
        model="minilm-en",
    )
    grid = view(page, "heads").locator(".grid")
    expect(grid.locator(".cell")).to_have_count(72)
    assert grid.evaluate("grid => grid.scrollWidth - grid.clientWidth") <= 0, "twelve heads would scroll sideways"
    lines = view(page, "lines-a")
    expect(lines.locator(".chip")).to_have_count(12)
    everything = ink(lines)
    lines.locator(".chip").nth(2).hover()
    until(page, lambda: 0 < ink(lines) < everything)
    lines.get_by_role("button", name=re.compile("^from 3 ")).hover()
    until(page, lambda: 0 < ink(lines) < everything / 2)
    for name in ("lines-a", "heads"):
        with page.expect_download() as svg:
            view(page, name).get_by_role("button", name="SVG").click()
        root = ElementTree.fromstring(Path(svg.value.path()).read_text(encoding="utf-8"))
        assert root.tag.endswith("svg") and svg.value.suggested_filename.endswith(".svg")
        if name == "lines-a":
            texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
            assert texts.count("script") == 2 and texts.count("[CLS]") == 2
            assert list(root.iter("{http://www.w3.org/2000/svg}path"))
        with page.expect_download() as png:
            view(page, name).get_by_role("button", name="PNG").click()
        assert Path(png.value.path()).read_bytes().startswith(b"\x89PNG")
    lines.locator(".chip").nth(2).click()
    expect(view(page, "heads").get_by_role("button", name="layer 2, head 3")).to_have_attribute("aria-pressed", "true")


# --- no token runs -----------------------------------------------------------------------------------------------


class Edges:
    """Every token looks at the next one, in each of `heads` heads."""

    def __init__(self, size: int, heads: int):
        self.counts = np.full((heads, size), 1)
        self.columns = np.arange(1, heads * size + 1) % size
        self.weights = np.linspace(0.05, 1, heads * size)


def test_a_token_is_text_in_our_views(page):
    weights = np.full((1, 1, 7, 7), 1 / 7)
    payloads = {
        "lines": lines_payload(TOKENS, Edges(7, 1), [0]),
        "matrix": matrix_payload(TOKENS, weights[0, 0], row=1, column=2),
        "heads": heads_payload(weights, [EVIL], [EVIL]),
    }
    for name, payload in payloads.items():
        page.set_content(views.document(name, payload))
        expect(page.get_by_role("button", name="SVG")).to_be_visible()
        assert page.locator("img, b").count() == 0, name
        with page.expect_download() as svg:
            page.get_by_role("button", name="SVG").click()
        text = Path(svg.value.path()).read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert "<img" not in text and "<script" not in text
    assert page.locator(".cell small").inner_text() == EVIL


def test_a_token_is_text_in_bertviz(page):
    rng = np.random.default_rng(0)
    probs = rng.random((2, 2, 7, 7))
    query, key = rng.normal(size=(2, 2, 2, 7, 4))
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    views = (
        bertviz.head_view(probs, TOKENS, 5),
        bertviz.model_view(probs, TOKENS, 5),
        bertviz.neuron_view(probs, query, key, TOKENS, 5),
    )
    for html in views:
        page.set_content(html)
        if "attn_background" in html:
            page.mouse.click(90, 90)
        expect(page.locator("svg text", has_text=EVIL).first).to_be_attached()
        assert page.locator("svg text", has_text=EVIL).first.text_content() == EVIL
        assert page.locator("img, b, [onload]").count() == 0
        page.locator("#filter").select_option(label="Sentence A → Sentence B")
        if "attn_background" not in html:
            expect(page.locator("svg text", has_text=EVIL)).to_have_count(1 if "att_head" not in html else 2)
    assert not asked


def test_bertviz_works_on_the_page_with_any_text(page):
    """Its head view; the other two before a release, and any text in all three in `test_a_token_is_text_in_bertviz`."""
    asked: list[str] = []

    def note(sent) -> None:
        asked.append(sent.url)

    open_page(page, "attention_explorer", part="BertViz", sentence=SENTENCE, second="It was old.")
    head = frame(page, "head")
    page.context.on("request", note)
    expect(head.locator("#left text")).to_have_count(14)
    head.locator("#filter").select_option(label="Sentence A → Sentence B")
    expect(head.locator("#left text")).to_have_count(9)
    expect(head.locator("#right text")).to_have_count(5)
    page.context.remove_listener("request", note)
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == []
    type_into(page, page.get_by_label("Your text"), EVERYTHING)
    assert_no_markup(page)
    expect(head.locator("#vis text", has_text="alert").first).to_be_attached()
    assert head.locator("img, b").count() == 0


@pytest.mark.release
@pytest.mark.parametrize("page", [{"viewport": {"width": 1280, "height": 800}}], indirect=True)
def test_bertviz_keeps_the_chosen_head_and_is_not_cut(page):
    chosen = {"layer": 3, "head": 4, "bertviz_model": "true", "bertviz_neuron": "true"}
    open_page(page, "attention_explorer", part="BertViz", sentence=SENTENCE, model="minilm-en", **chosen)
    for _visit in range(2):
        expect(frame(page, "model").locator("svg text", has_text="Layer 3, Head 4")).to_be_visible()
        expect(page.get_by_text("Neuron view: layer 3, head 4")).to_be_visible()
        expect(frame(page, "model").locator("rect.attn_background")).to_have_count(72)
        page.get_by_role("tab", name="Look").click()  # the frame is gone, and drawn anew
        wait_idle(page)
        show_answers(page)
        expect(view(page, "heads").get_by_role("button", name="layer 3, head 4")).to_have_attribute(
            "aria-pressed", "true"
        )
        page.get_by_role("tab", name="BertViz").click()
    neuron = frame(page, "neuron")
    neuron.locator("#collapsed .token").nth(2).hover(force=True)
    neuron.locator("#collapsed .plus-sign").nth(2).click(force=True)
    expect(neuron.locator("svg text", has_text="Softmax")).to_be_visible()
    texts = neuron.locator("svg text:visible")
    right = max(box["x"] + box["width"] for box in (text.bounding_box() for text in texts.all()) if box)
    edge = page.locator(".st-key-bertviz-neuron-a iframe").bounding_box()
    assert right <= edge["x"] + edge["width"], f"{right - edge['x'] - edge['width']:.0f} px are cut"


@pytest.mark.release
@pytest.mark.parametrize("page", [{"viewport": {"width": 1280, "height": 800}}], indirect=True)
@pytest.mark.parametrize("times", [1, 30])
def test_the_matrix_has_all_its_columns_in_view(page, times):
    open_page(page, "attention_explorer", view="matrix", sentence=" ".join([SENTENCE] * times)[:480])
    box = view(page, "matrix-a").locator("canvas")
    wide, cell, side = (float(box.evaluate(f"c => c.{of}")) for of in ("clientWidth", "dataset.cell", "dataset.side"))
    count = round((wide - side - 2) / cell)
    assert count >= 9 and wide <= view(page, "matrix-a").evaluate("e => e.clientWidth") + 1
    frame = box.bounding_box()
    last = side + (count - 0.5) * cell
    page.mouse.move(frame["x"] + last, frame["y"] + side + 0.5 * cell)
    expect(view(page, "matrix-a").locator(".note")).to_contain_text(f"1 · [CLS] → {count} · [SEP]")
