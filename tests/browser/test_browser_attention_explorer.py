"""The attention explorer as a reader meets it: clicks, pictures to keep, no token that runs, nothing that freezes."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from plots.attention_payloads import heads_payload, lines_payload, matrix_payload
from sections.attention_explorer import bertviz, views
from tests.browser.driver import (
    MINUTES,
    assert_fits,
    assert_no_markup,
    click_point,
    expect,
    on_every_screen,
    open_page,
    type_into,
    until,
    wait_idle,
)
from tests.hostile import HOSTILE, IN_A_BROWSER

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
    expect(page.get_by_text(re.compile("^Layer 3, head 2 gives "))).to_be_visible()
    expect(page).to_have_url(re.compile("layer=3"))
    view(page, "lines-a").get_by_role("button", name="from 3 man").click()
    expect(page.get_by_text("From 3 · man; all others together")).to_be_visible()
    expect(page.get_by_text(re.compile("^Layer 3, head 2: “man” gives "))).to_be_visible()
    view(page, "lines-a").get_by_role("button", name="to 7 house").click()
    expect(page.locator(".katex annotation", has_text="p_{3,7}")).to_have_count(1)
    page.reload()
    wait_idle(page)
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


@pytest.mark.parametrize(("part", "name"), [("Look", "heads"), ("Kinds of heads", "kinds")])
def test_twelve_heads_fit_beside_each_other(page, part, name):
    page.set_viewport_size({"width": 1280, "height": 800})
    open_page(page, "attention_explorer", part=part, model="minilm-en", sentence=SENTENCE)
    grid = view(page, name).locator(".grid")
    expect(grid.locator(".cell")).to_have_count(72)
    assert grid.evaluate("grid => grid.scrollWidth - grid.clientWidth") <= 0, "they would scroll sideways"


def test_all_heads_of_a_layer_and_one_of_them(page):
    open_page(page, "attention_explorer", heads="all", layer=2, sentence=SENTENCE)
    lines = view(page, "lines-a")
    expect(lines.locator(".chip")).to_have_count(4)
    expect(page.get_by_text(re.compile("^All heads of layer 2 give "))).to_be_visible()
    everything = ink(lines)
    lines.locator(".chip").nth(2).hover()
    until(page, lambda: 0 < ink(lines) < everything)
    lines.locator(".chip").nth(2).click()
    expect(page.get_by_text(re.compile("^Layer 2, head 3 gives "))).to_be_visible()


def ink(lines) -> int:
    """How many pixels of the lines have a colour."""
    return lines.locator("canvas").evaluate(
        "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v).length"
    )


def test_a_hand_on_a_token_leaves_its_lines_alone(page):
    open_page(page, "attention_explorer", share=100, sentence=SENTENCE)
    lines = view(page, "lines-a")
    everything = ink(lines)
    lines.get_by_role("button", name="from 3 man").hover()
    until(page, lambda: 0 < ink(lines) < everything / 2)


@pytest.mark.parametrize("name", ["lines-a", "heads"])
def test_a_picture_is_kept_offline(page, name):
    open_page(page, "attention_explorer", heads="all", sentence=f"{EVIL} & so on")
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


def test_heads_are_switched_off_and_the_score_changes(page):
    open_page(page, "attention_explorer", part="Switch heads off", sentence=SENTENCE)
    loss = page.get_by_test_id("stMetric").filter(has_text="Loss, in nats").get_by_test_id("stMetricValue")
    intact = loss.inner_text()
    view(page, "switches").get_by_role("button", name="layer 2, head 4").click()
    expect(page.get_by_text("1 of 16 heads are off.")).to_be_visible()
    expect(view(page, "switches").locator(".crossed")).to_have_count(1)
    expect(loss).not_to_have_text(intact)
    expect(page).to_have_url(re.compile("off=2.4"))
    view(page, "switches").get_by_role("button", name="layer 2, head 4").click()
    expect(page.get_by_text("0 of 16 heads are off.")).to_be_visible()
    expect(loss).to_have_text(intact)


def test_heads_are_ranked_with_progress(page):
    open_page(page, "attention_explorer", part="Switch heads off", sentence=SENTENCE, silence="mean", rank="false")
    expect(page.get_by_text("Click a head to switch it off or on")).to_be_visible()
    expect(view(page, "ranking")).to_have_count(0)
    page.get_by_text("Rank all 16 heads").click()
    expect(page.get_by_text(re.compile("^Layer [234] of 4 · dearest so far: layer"))).to_be_visible()
    expect(page.get_by_text("Where they disagree")).to_be_visible(timeout=MINUTES)
    expect(view(page, "ranking").locator(".scatterlayer .point")).to_have_count(16)
    expect(page).not_to_have_url(re.compile("rank="))  # so a page begins


def test_a_ranked_head_is_clicked_and_marked(page):
    open_page(page, "attention_explorer", part="Switch heads off", sentence=SENTENCE)
    ranking = view(page, "ranking")
    expect(ranking.locator(".scatterlayer .point")).to_have_count(16, timeout=MINUTES)
    first = ranking.locator(".ytick text").first.text_content()
    layer, head = (int(number) for number in re.findall("[0-9]+", first))
    assert (layer, head) != (2, 2)
    click_point(page, ranking, 0)
    expect(view(page, "switches").get_by_role("button", name=f"layer {layer}, head {head}")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(ranking.locator(".ytick text b, .ytick text tspan[style*=bold]").first).to_have_text(first)


def test_a_relation_is_clicked_and_seen_in_a_sentence(page):
    open_page(page, "attention_explorer", part="Kinds of heads", sentence=SENTENCE)
    page.get_by_role("radio", name="Which word it finds").click()
    picture = view(page, "relations")
    expect(picture.locator(".scatterlayer")).to_be_visible(timeout=MINUTES)
    expect(page.get_by_text(": where does")).to_be_visible()
    click_point(page, picture, 4)  # the best head of the fifth relation
    expect(page).to_have_url(re.compile("relation=5"))
    expect(page.get_by_text("Where the antecedent is settled:")).to_be_visible()
    expect(view(page, "relation-lines").get_by_role("button", name=re.compile("^from "))).not_to_have_count(0)
    page.reload()
    expect(page.get_by_text("Where the antecedent is settled:")).to_be_visible(timeout=MINUTES)


# --- no token runs -----------------------------------------------------------------------------------------------


class Edges:
    """Every token looks at the next one, in each of `heads` heads."""

    def __init__(self, size: int, heads: int, each: int = 1):
        self.counts = np.full((heads, size), each)
        self.columns = (np.arange(heads * size * each) * 7) % size
        self.weights = np.linspace(0.05, 1, heads * size * each)


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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_token_is_text_in_bertviz(page, dark):
    rng = np.random.default_rng(0)
    probs = rng.random((2, 2, 7, 7))
    query, key = rng.normal(size=(2, 2, 2, 7, 4))
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    views = (
        bertviz.head_view(probs, TOKENS, 5, dark=dark),
        bertviz.model_view(probs, TOKENS, 5, dark=dark),
        bertviz.neuron_view(probs, query, key, TOKENS, 5, dark=dark),
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


def test_any_text_is_text(page):
    open_page(
        page, "attention_explorer", part="BertViz", bertviz_model="true", bertviz_neuron="true", model="untrained"
    )
    for name in IN_A_BROWSER:
        type_into(page, page.get_by_label("Your text"), HOSTILE[name])
        page.get_by_role("button", name="Examples", exact=True).click()
        type_into(page, page.get_by_label("A second sentence"), HOSTILE[name])
        page.keyboard.press("Escape")
        expect(page.get_by_text("Check yourself")).to_be_visible()
        assert_no_markup(page)
        for kind in ("head", "model", "neuron"):
            expect(frame(page, kind).locator("#vis svg")).to_be_visible()
            assert frame(page, kind).locator("img, b").count() == 0


def test_bertviz_works_on_the_page(page):
    asked: list[str] = []
    page.context.on("request", lambda sent: asked.append(sent.url))
    open_page(
        page,
        "attention_explorer",
        part="BertViz",
        bertviz_model="true",
        bertviz_neuron="true",
        sentence=SENTENCE,
        second="It was old.",
    )
    asked.clear()
    head = frame(page, "head")
    expect(head.locator("#left text")).to_have_count(14)
    head.locator("#filter").select_option(label="Sentence A → Sentence B")
    expect(head.locator("#left text")).to_have_count(9)
    expect(head.locator("#right text")).to_have_count(5)
    model = frame(page, "model")
    expect(model.locator("rect.attn_background")).to_have_count(16)
    neuron = frame(page, "neuron")
    token = neuron.locator("#collapsed .token").nth(2)
    token.hover(force=True)
    expect(neuron.locator("#collapsed .plus-sign").nth(2)).to_have_css("opacity", "1")
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == []


@pytest.mark.parametrize("page", [{"viewport": {"width": 1280, "height": 800}}], indirect=True)
def test_bertviz_keeps_the_chosen_head_and_is_not_cut(page):
    chosen = {"layer": 3, "head": 4, "bertviz_model": "true", "bertviz_neuron": "true"}
    open_page(page, "attention_explorer", part="BertViz", sentence=SENTENCE, model="minilm-en", **chosen)
    for _visit in range(2):
        expect(frame(page, "model").locator("svg text", has_text="Layer 3, Head 4")).to_be_visible()
        expect(page.get_by_text("Neuron view: layer 3, head 4")).to_be_visible()
        page.get_by_role("tab", name="Look").click()  # the frame is gone, and drawn anew
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


@pytest.mark.parametrize("page", [{"viewport": {"width": 1280, "height": 800}}], indirect=True)
@pytest.mark.parametrize("times", [1, 6, 30])
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


# --- nothing freezes ---------------------------------------------------------------------------------------------

# The longest time between two frames; how long it takes to draw another payload; in milliseconds.
LONGEST = """() => {
  window.longest = 0;
  let last = performance.now();
  const beat = now => {
    window.longest = Math.max(window.longest, now - last);
    last = now;
    requestAnimationFrame(beat);
  };
  requestAnimationFrame(beat);
}"""
DRAW = "data => { const started = performance.now(); window.draw(data); return performance.now() - started; }"


@pytest.mark.parametrize("size", [128, 512])
def test_long_texts_do_not_freeze_the_page(page, size):
    """12 heads of a layer at once: drawn, scrolled, hovered; and a matrix, with a hand moving over it."""
    tokens = [f"token{i}" for i in range(size)]
    each = max(1, 12_000 // (12 * size))
    lines = lines_payload(tokens, Edges(size, 12, each), range(12))
    page.set_content(views.document("lines", lines_payload(["a"], Edges(1, 1), [0])))
    page.evaluate(LONGEST)
    drawn = page.evaluate(DRAW, lines)
    box = page.locator(".scroll")
    for top in range(0, size * 20, size * 4):
        box.evaluate("(box, top) => { box.scrollTop = top }", top)
        page.wait_for_timeout(30)
    box.evaluate("box => { box.scrollTop = 0 }")
    for i in range(1, 8):
        page.get_by_role("button", name=f"from {i + 1} token{i}", exact=True).hover()
    page.get_by_role("button", name="from 4 token3", exact=True).click()
    assert page.evaluate("window.clicked") == [{"row": 3}]
    assert page.evaluate("window.longest") < 2_000  # of a busy machine without a graphics card
    matrix = matrix_payload(tokens, np.random.default_rng(0).random((size, size)))
    page.set_content(views.document("matrix", matrix_payload(["a"], np.ones((1, 1)))))
    page.evaluate(LONGEST)
    drawn = max(drawn, page.evaluate(DRAW, matrix))
    for at in range(20, 400, 40):
        page.mouse.move(at, at)
    page.wait_for_timeout(50)
    longest = page.evaluate("window.longest")
    assert drawn < 2_000 and longest < 2_000, (drawn, longest)


def test_it_fits(page):
    open_page(page, "attention_explorer", heads="all", sentence=SENTENCE, row=3)
    for screen in on_every_screen(page):
        assert_fits(page, f"attention-explorer-{screen}")
    page.get_by_role("tab", name="Kinds of heads").click()
    expect(page.get_by_text("have a name")).to_be_visible()
    for screen in on_every_screen(page):
        expect(page.get_by_text("have a name")).to_be_visible()
        assert_fits(page, f"attention-explorer-names-{screen}")
    page.get_by_role("radio", name="Which word it finds").click()
    expect(view(page, "relations").locator(".scatterlayer")).to_be_attached(timeout=MINUTES)
    for screen in on_every_screen(page):
        expect(view(page, "relations").locator(".scatterlayer")).to_be_attached()
        assert_fits(page, f"attention-explorer-kinds-{screen}")
