"""The page To write as a reader meets it: a text that comes into being token by token, played and halted."""

import re

from tests.browser.driver import expect, open_page


def test_it_plays_halts_and_is_stepped(page):
    open_page(page, "to_write")
    picture = page.locator(".st-key-picture .moving")
    play, count, said = (picture.locator(name) for name in (".play", ".count", ".said"))
    if "Pause" in play.inner_text():
        play.click()
    expect(play).to_have_text(re.compile("Play"))
    picture.get_by_role("slider").fill("0")
    expect(count).to_have_text(re.compile(r"^\D*0\b"))
    nothing = said.inner_text()
    play.click()
    expect(play).to_have_text(re.compile("Pause"))
    expect(said).not_to_have_text(nothing)
    play.click()
    expect(play).to_have_text(re.compile("Play"))
    assert picture.evaluate("e => e.mbPlayer.timer") is None  # it does not go on
    before = said.inner_text()
    picture.focus()
    page.keyboard.press("ArrowRight")
    expect(said).not_to_have_text(before)
    page.keyboard.press("ArrowLeft")
    expect(said).to_have_text(before)
