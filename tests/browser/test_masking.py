"""Masking as a reader meets it: clicks, double clicks and keys hide words, sliders stay a whole, links hold it all."""

import re

import pytest

from tests.browser.driver import expect, open_page, wait_idle

SENTENCE = "The man looked at the house."  # words that any English vocabulary has whole


def chip(page, position: int):
    return page.locator(f".st-key-chip-{position} button")


def read(page) -> list[str]:
    """What the model reads, from the masks that fall under the sliders."""
    return page.get_by_role("list", name="What the model reads").get_by_role("listitem").all_inner_texts()


def handle(page, name: str):
    return page.get_by_role("slider", name=name)


def test_a_click_a_double_click_and_a_key_hide_a_word(page):
    open_page(page, "masking", cloze=SENTENCE, blanks="2")
    bars = page.locator(".st-key-blank-bars .annotation-text")
    expect(chip(page, 2)).to_have_text("[MASK]")
    expect(bars).to_have_count(0)  # its name is the title
    chip(page, 6).dblclick()
    expect(chip(page, 6)).to_have_text("[MASK]")
    wait_idle(page)
    expect(chip(page, 6)).to_have_text("[MASK]")
    expect(bars).to_have_count(2)
    expect(page).to_have_url(re.compile(r"blanks=2\.6"))
    chip(page, 6).click()
    expect(chip(page, 6)).to_have_text("house")
    wait_idle(page)
    chip(page, 5).focus()
    page.keyboard.press("Tab")
    expect(chip(page, 6)).to_be_focused()
    page.keyboard.press("Enter")
    expect(chip(page, 6)).to_have_text("[MASK]")


@pytest.mark.release
def test_masks_fall_epoch_by_epoch_and_the_shares_stay_a_whole(page):
    open_page(page, "masking", part="What falls", epochs=3, seed=11)
    said = page.locator(".mb-falling .said")
    expect(said).to_contain_text("Epoch 1 of 3")
    first = read(page)
    row = page.get_by_role("list", name="What the model reads")
    row.focus()
    row.press("ArrowRight")
    expect(said).to_contain_text("Epoch 2 of 3")
    assert read(page) != first
    page.get_by_role("button", name="Next epoch").click()
    expect(said).to_contain_text("Epoch 3 of 3")
    expect(page.get_by_role("button", name="Next epoch")).to_be_disabled()
    page.get_by_role("button", name="Play").click()  # from the beginning, and by itself to the end
    expect(said).to_contain_text("Epoch 1 of 3")
    expect(said).to_contain_text("Epoch 3 of 3")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    random = handle(page, "of these: random token")
    random.focus()
    for value in (11, 12):  # one after another: Streamlit's slider loses keys that come while it is answered
        random.press("ArrowRight")
        expect(random).to_have_value(str(value))
        wait_idle(page)
    expect(page).to_have_url(re.compile(r"split=\d+-12-\d+"))
    wait_idle(page)
    parts = [handle(page, f"of these: {name}").input_value() for name in ("[MASK]", "random token", "kept")]
    assert sum(map(int, parts)) == 100
