"""Attention as a reader meets it: cells and heads are clicked, keys step, links hold the cell, every part breaks."""

import re
from pathlib import Path

import pytest

from sections.attention import arcs
from tests.browser.driver import (
    assert_fits,
    assert_no_markup,
    click_point,
    expect,
    on_every_screen,
    open_page,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE, IN_A_BROWSER

CUT_OR_OVERPRINTED = Path(__file__).with_name("form.js").read_text(encoding="utf-8")
SENTENCE = "The man looked at the house."  # words that any English vocabulary has whole


def chart(page, name: str):
    return page.locator(f".st-key-attention-{name}")


def formula(page, text: str):
    """The formula on the page with this in its TeX."""
    return page.locator(".katex annotation", has_text=text)


def test_a_click_on_a_cell_shows_its_arithmetic_and_the_link_keeps_it(page):
    open_page(page, "attention", step=2, padding=0, sentence=SENTENCE)
    expect(formula(page, r"q_{2} \cdot k_{3}")).to_have_count(1)
    click_point(page, chart(page, "pairs"), 4 * 9 + 6)  # [CLS], six words, a full stop, [SEP]
    expect(formula(page, r"q_{5} \cdot k_{7}")).to_have_count(1)
    expect(page).to_have_url(re.compile("row=5.*column=7"))
    page.reload()
    wait_idle(page)
    expect(formula(page, r"q_{5} \cdot k_{7}")).to_have_count(1)
    click_point(page, chart(page, "pairs"), 4 * 9 + 5)
    expect(formula(page, r"q_{5} \cdot k_{6}")).to_have_count(1)
    click_point(page, chart(page, "pairs"), 4 * 9 + 6)  # once more the cell clicked before
    expect(formula(page, r"q_{5} \cdot k_{7}")).to_have_count(1)


def test_a_cell_is_chosen_with_the_keyboard(page):
    open_page(page, "attention", step=5, padding=0, sentence=SENTENCE)
    box = page.get_by_test_id("stSelectbox").filter(has_text="To (column)").locator("input")
    box.focus()
    page.keyboard.type("house")
    page.keyboard.press("Enter")
    expect(formula(page, "p_{2,7} =")).to_have_count(1)


def test_keys_step_and_each_step_leads_to_its_line(page):
    open_page(page, "attention", sentence=SENTENCE, view=4)
    lines = ['q = tap("query"', 'tap("scores"', 'tap("scores"', 'tap("probs"', 'tap("probs"', 'tap("mixed"']
    code = page.locator("details", has_text="The line of code that computed this").first
    for step, line in enumerate(lines, 1):
        if step > 1:
            page.keyboard.press("ArrowRight")  # the picture is at its end: its arrow keys go on to the steps
            expect(page).to_have_url(re.compile(f"step={step}"))
            wait_idle(page)
        if code.get_attribute("open") is None:
            code.locator("summary").click()
        expect(page.locator(".mb-marked", has_text=line).first).to_be_visible()


def test_arrows_become_a_row_the_matrix_and_the_new_vector(page):
    open_page(page, "attention", sentence=SENTENCE, row=3)
    picture = page.locator(".st-key-picture")
    stages = picture.locator("button[data-stage]")
    for stage in range(1, 4):
        page.keyboard.press("ArrowRight")
        expect(stages.nth(stage)).to_have_attribute("aria-current", "step")
    expect(page).to_have_url(re.compile("view=4"))
    expect(page).not_to_have_url(re.compile("step="))
    wait_idle(page)
    page.keyboard.press("ArrowLeft")
    expect(stages.nth(2)).to_have_attribute("aria-current", "step")
    picture.locator(".rowname").nth(5).click()
    expect(page).to_have_url(re.compile("row=6"))
    expect(picture.locator(".finding")).to_contain_text("“the” takes")
    expect(picture.locator(".cell[data-row='5']")).to_have_count(9)


def test_what_the_server_says_late_does_not_turn_the_picture_back(page):
    """The picture's own module, with a server that is two presses behind, as a busy one is."""
    page.set_content(arcs.HTML)
    data = {
        "tokens": ["a", "b"],
        "probs": [[0.5, 0.5]] * 2,
        "values": [[0.1, 0.2]] * 2,
        "mixed": [[0.1, 0.2]] * 2,
        "row": 0,
        "stage": 0,
        "step": 0,
        "findings": ["", ""],
        "words": {"stages": ["1", "2", "3", "4"], "said": [""] * 4, "play": "", "pause": "", "new": ""},
    }
    heard, shown = page.evaluate(
        """async ([source, data]) => {
          const { default: draw } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
          const heard = [], rest = () => new Promise((resolve) => setTimeout(resolve, 400));
          const say = (stage) => draw({
            data: { ...data, stage },
            parentElement: document.body,
            setStateValue: (name, value) => heard.push(value),
            setTriggerValue: () => {},
          });
          const press = () => window.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
          say(0);
          for (const late of [0, 0, 1]) {
            press();
            await rest();
            say(late);
          }
          [2, 3].map(say);
          return [heard, [...document.querySelectorAll("[data-stage]")].map((one) => one.getAttribute("aria-current"))];
        }""",
        [(Path(arcs.__file__).parent / "arcs.js").read_text(encoding="utf-8"), data],
    )
    assert heard == [1, 2, 3] and shown == ["false", "false", "false", "step"]


def test_a_click_on_a_number_of_a_vector(page):
    open_page(page, "attention", padding=0, sentence=SENTENCE)
    points = chart(page, "vectors").locator(".scatterlayer .point")
    click_point(
        page, chart(page, "vectors"), points.count() // 3 + 20
    )  # of K: the first token's number 21, three pixels wide
    expect(page).to_have_url(re.compile("matrix=2.*row=1.*number="))
    number = int(re.search(r"number=(\d+)", page.url).group(1))
    assert abs(number - 21) <= 3
    expect(formula(page, f"k_{{1}}[{number}]")).to_have_count(1)


def test_a_click_on_a_head_opens_it_in_the_stepper(page):
    open_page(page, "attention", part="All heads", padding=0, sentence=SENTENCE)
    click_point(page, chart(page, "heads"), 5)
    expect(page).to_have_url(re.compile("layer=2.*head=2"))
    expect(page.get_by_text("layer 2, head 2", exact=True)).to_be_visible()
    page.get_by_role("button", name="Take it apart, step by step").click()
    expect(page.get_by_role("tab", name="One head")).to_have_attribute("aria-selected", "true")
    expect(chart(page, "vectors").locator("svg.main-svg").first).to_be_visible()
    expect(page).to_have_url(re.compile("layer=2.*head=2"))


def test_every_part_breaks_and_says_what_happened(page):
    open_page(page, "attention", sentence=SENTENCE)
    page.get_by_role("tab", name="Break it").click()
    expect(page.get_by_text("Entropy of a row, bits")).to_be_visible()
    page.get_by_role("radio", name="the mask").click()
    expect(page.get_by_text("Attention that goes to padding")).to_be_visible()
    expect(page.get_by_text("0% with the mask")).to_be_visible()
    page.get_by_role("radio", name="the positions").click()
    expect(page.get_by_text(re.compile(r"Without positions at most (0|\d × 10⁻[⁵⁶⁷⁸]) is left"))).to_be_visible()
    expect(page).to_have_url(re.compile("break=positions"))


def test_measuring_on_this_machine(page):
    open_page(page, "attention", part="Against an RNN", sentence=SENTENCE)
    page.get_by_role("button", name="Measure it on this machine").click()
    expect(chart(page, "timings").locator("svg.main-svg").first).to_be_visible()


@pytest.mark.parametrize("view", ["forgets", "directions", "bottleneck"])  # tests/browser/test_form.py sees the others
def test_each_view_of_the_recurrent_reader_is_short_and_whole(page, view):
    open_page(page, "attention", part="Against an RNN", rnn=view, sentence="Anna lost the books. She searched alone.")
    expect(chart(page, {"forgets": "rnn-left"}.get(view, f"rnn-{view}"))).to_be_visible()
    panel = page.locator(":is(.st-key-part, .st-key-tab) [role=tabpanel]:visible").first
    assert panel.bounding_box()["height"] <= 3 * page.viewport_size["height"]
    assert page.evaluate(CUT_OR_OVERPRINTED) == []


def test_a_sentence_in_the_toy_worlds_words_is_a_click_away(page):
    open_page(page, "attention", part="Against an RNN", rnn="gates", sentence=SENTENCE)
    page.get_by_role("button", name="A sentence in its words").click()
    expect(page.get_by_label("Your text")).to_have_value(re.compile("Anna lost the books"))
    expect(page.get_by_text("Not in the toy world")).to_have_count(0)


def test_any_text_is_text(page):
    open_page(page, "attention", step=5)
    for name in IN_A_BROWSER:
        type_into(page, page.get_by_label("Your text"), HOSTILE[name])
        page.get_by_role("button", name="Examples", exact=True).click()
        type_into(page, page.get_by_label("A second sentence"), HOSTILE[name])
        page.keyboard.press("Escape")
        expect(page.get_by_text("Check yourself")).to_be_visible()
        assert_no_markup(page)


def test_it_fits(page):
    open_page(page, "attention", step=5, sentence=SENTENCE)
    for screen in on_every_screen(page):
        assert_fits(page, f"attention-{screen}")
