"""Embeddings as a reader meets it: points move by slider and keys, a click shows neighbours, a guess adds a star."""

import re

from tests.browser.driver import expect, open_page, type_into, wait_idle


def test_points_move_are_clicked_and_a_new_star_rises(page):
    open_page(page, "embeddings", layer=2)
    picture = page.locator(".mb-moving")
    points, slider = picture.locator(".point"), picture.locator("input")

    def places() -> list[str]:
        return points.evaluate_all("all => all.map(e => e.style.transform)")

    expect(points).to_have_count(16)
    before = places()
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "3")
    assert places() != before
    expect(page).to_have_url(re.compile(r"[?&]layer=3\b"))
    picture.locator("svg").first.focus()  # the arrow keys work in the picture, too
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"[?&]layer=2\b"))
    wait_idle(page)
    assert places() == before
    points.nth(3).dispatch_event("click")
    expect(picture.locator(".lines path")).to_have_count(5)
    expect(page).to_have_url(re.compile(r"[?&]point=4\b"))
    open_page(page, "embeddings")
    type_into(page, page.get_by_label("Your sentence with"), "He fished from the bank.", "ControlOrMeta+Enter")
    expect(points).to_have_count(16)
    page.get_by_role("button", name="river", exact=True).click()
    expect(points).to_have_count(17)
    expect(slider).to_have_attribute("aria-valuetext", "6")  # it has risen to the last layer
