"""Attention as a reader meets it: cells are clicked, keys step through the picture and on, the link holds the cell."""

import re
from pathlib import Path

from sections.attention import arcs
from tests.browser.driver import click_point, expect, open_page, wait_idle

SENTENCE = "The man looked at the house."  # words that any English vocabulary has whole


def formula(page, text: str):
    """The formula on the page with this in its TeX."""
    return page.locator(".katex annotation", has_text=text)


def test_a_cell_is_clicked_or_chosen_by_keyboard_and_the_link_keeps_it(page):
    open_page(page, "attention", step=2, padding=0, row=2, sentence=SENTENCE)
    pairs = page.locator(".st-key-attention-pairs")
    expect(formula(page, r"q_{2} \cdot k_{3}")).to_have_count(1)
    click_point(page, pairs, 4 * 9 + 6)  # [CLS], six words, a full stop, [SEP]
    expect(formula(page, r"q_{5} \cdot k_{7}")).to_have_count(1)
    expect(page).to_have_url(re.compile("row=5.*column=7"))
    page.reload()
    wait_idle(page)
    expect(formula(page, r"q_{5} \cdot k_{7}")).to_have_count(1)
    click_point(page, pairs, 4 * 9 + 5)
    expect(formula(page, r"q_{5} \cdot k_{6}")).to_have_count(1)
    click_point(page, pairs, 4 * 9 + 6)  # once more the cell clicked before
    expect(formula(page, r"q_{5} \cdot k_{7}")).to_have_count(1)
    wait_idle(page)
    page.get_by_test_id("stSelectbox").filter(has_text="To (column)").locator("input").focus()
    page.keyboard.type("looked")
    page.keyboard.press("Enter")
    expect(formula(page, r"q_{5} \cdot k_{4}")).to_have_count(1)


def test_arrows_become_a_row_the_matrix_and_the_new_vector_and_leave_the_steps_below_alone(page):
    open_page(page, "attention", sentence=SENTENCE, row=3)
    picture = page.locator(".st-key-picture")
    stages = picture.locator("button[data-stage]")
    for stage in range(1, 4):
        page.keyboard.press("ArrowRight")
        expect(stages.nth(stage)).to_have_attribute("aria-current", "step")
    expect(page).to_have_url(re.compile("view=4"))
    expect(page).not_to_have_url(re.compile("step="))
    wait_idle(page)
    page.keyboard.press("ArrowRight")  # the picture is at its end, and no other takes the key
    wait_idle(page)
    expect(page).not_to_have_url(re.compile("step="))
    stages.nth(2).click()
    picture.locator(".rowname").nth(5).click()
    expect(page).to_have_url(re.compile("row=6"))
    expect(picture.locator(".cell[data-row='5']")).to_have_count(9)


def test_a_new_sentence_is_one_step_of_the_browsers_history(page):
    open_page(page, "attention", sentence=SENTENCE)
    before = page.evaluate("history.length")
    field = page.get_by_label("Your text", exact=True)
    field.fill("The animal didn't cross the street because it was too tired.")
    field.press("Enter")
    expect(page).to_have_url(re.compile("animal.*layer=1.*head=4"))  # no longer the head that is shown by default
    wait_idle(page)
    assert page.evaluate("history.length") == before + 1


def test_what_the_server_says_late_does_not_turn_the_picture_back(page):
    """The picture's own module, with a server that is two presses behind, as a busy one is."""
    page.set_content(arcs.HTML)
    data = {
        "tokens": ["a", "b"],
        "rows": [0, 1],
        "probs": [[0.5, 0.5]] * 2,
        "values": [[0.1, 0.2]] * 2,
        "mixed": [[0.1, 0.2]] * 2,
        "row": 0,
        "stage": 0,
        "findings": ["", ""],
        "words": {"stages": ["1", "2", "3", "4"], "said": [""] * 4, "play": "", "pause": "", "new": ""},
    }
    heard, shown = page.evaluate(
        """async ([source, data]) => {
          const { default: draw } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
          const heard = [];
          let told;
          const say = (stage) => draw({
            data: { ...data, stage },
            parentElement: document.body,
            setStateValue: (name, value) => { heard.push(value); told(); },
            setTriggerValue: () => {},
          });
          const press = () => new Promise((resolve) => {
            told = resolve;
            window.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
          });
          say(0);
          for (const late of [0, 0, 1]) {
            await press();
            say(late);
          }
          [2, 3].map(say);
          return [heard, [...document.querySelectorAll("[data-stage]")].map((one) => one.getAttribute("aria-current"))];
        }""",
        [(Path(arcs.__file__).parent / "arcs.js").read_text(encoding="utf-8"), data],
    )
    assert heard == [1, 2, 3] and shown == ["false", "false", "false", "step"]
