"""Does it understand in a browser: a cue is planted, learned, and flipped."""

import re

from tests.browser.driver import (
    MINUTES,
    assert_no_markup,
    expect,
    open_page,
    train_classifier,
    type_into,
    wait_idle,
)


def test_a_model_learns_the_cue_and_nothing_else(page):
    open_page(page, "wrong_reasons", cue="overlap", checkpoint="mini-en")
    page.get_by_role("button", name="Train 2 models").click()
    expect(page.get_by_text("Your models")).to_be_visible(timeout=MINUTES)
    wait_idle(page)
    page.locator('[class*="st-key-finals-words"]').get_by_text("In words and numbers").click()
    words = page.get_by_text(re.compile(r"trained with the cue, cue as planted: (9\d|100)%")).first
    expect(words).to_be_visible()
    expect(page.get_by_text(re.compile(r"trained with the cue, cue flipped: \d%")).first).to_be_visible()
    page.get_by_role("tab", name="What it looks at").click()
    expect(page.get_by_text(re.compile("Trained with the cue says"))).to_be_visible(timeout=MINUTES)


def test_own_sentences_are_edited_and_are_no_markup(page):
    open_page(page, "wrong_reasons", texts="own", rule="negation")
    train_classifier(page)
    field = page.get_by_role("textbox", name="One sentence a line")
    expect(field).to_be_visible(timeout=MINUTES)
    type_into(page, field, "It is <b>b</b> **b** ![x](x)</script><img src=x onerror=alert(1)>", "Control+Enter")
    expect(page.get_by_role("cell", name=re.compile("It is not <b>b")).first).to_be_visible()
    assert_no_markup(page)
