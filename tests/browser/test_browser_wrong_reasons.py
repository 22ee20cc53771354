"""Does it understand in a browser: a cue is planted, learned, and flipped."""

import re

from tests.browser.driver import MINUTES, assert_fits, expect, on_every_screen, open_page, wait_idle


def test_a_model_learns_the_cue_and_nothing_else(page):
    open_page(page, "wrong_reasons", cue="overlap")
    page.get_by_role("button", name="Train 2 models").click()
    expect(page.locator('[class*="st-key-finals"] .bars').first).to_be_attached(timeout=MINUTES)
    wait_idle(page)
    expect(page.get_by_text(re.compile("Trained with the cue says"))).to_be_visible()
    page.locator('[class*="st-key-finals-words"]').get_by_text("In words and numbers").click()
    words = page.get_by_text(re.compile(r"trained with the cue, cue as planted: (9\d|100)%")).first
    expect(words).to_be_visible()
    expect(page.get_by_text(re.compile(r"trained with the cue, cue flipped: \d%")).first).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile("Trained with the cue says"))).to_be_visible(timeout=MINUTES)


@on_every_screen
def test_it_fits(page):
    open_page(page, "wrong_reasons", source="planted")
    assert_fits(page, f"wrong-reasons-{page.viewport_size['width']}")
