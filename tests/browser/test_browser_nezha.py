"""NEZHA as a reader meets it: words put in front move places and no distance, a word of one's own has its distances."""

import re

from tests.browser.driver import (
    expect,
    open_page,
    type_into,
    wait_idle,
)

TEXT = "Text in words of the toy world"


def columns(page, part: str) -> list[str]:
    return page.locator(f".mb-nezha > li .{part}").all_inner_texts()


def test_words_in_front_move_places_and_no_distance(page):
    open_page(page, "nezha")
    places, far = columns(page, "place"), columns(page, "far")
    assert len(places) > 10
    slider = page.get_by_role("slider", name="Words put in front")
    slider.focus()
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"front=50"))
    wait_idle(page)
    assert columns(page, "place") != places and columns(page, "far") == far
    page.reload()
    wait_idle(page)
    assert columns(page, "far") == far and "51" in columns(page, "place")[0]


def test_a_word_of_ones_own_has_its_distances(page):
    open_page(page, "nezha")
    type_into(page, page.get_by_label(TEXT, exact=True), "sofia was a kind girl.")
    expect(page.locator(".mb-nezha > li")).to_have_count(6)
    expect(page.locator(".st-key-strips svg").first).to_be_visible()


def test_two_optimizers_are_trained_and_show_their_ratios(page):
    open_page(page, "nezha", part="Batches", **{"rows-read": "8,192"})
    expect(page.get_by_text("64 steps of 128 rows each")).to_be_visible()
    page.get_by_role("button", name="Train both").click()
    expect(page.locator(".st-key-batch-curves svg").first).to_be_visible(timeout=90_000)
    expect(page.locator(".st-key-trust-ratios svg").first).to_be_visible(timeout=90_000)
    page.reload()
    expect(page.locator(".st-key-trust-ratios svg").first).to_be_visible(timeout=90_000)
