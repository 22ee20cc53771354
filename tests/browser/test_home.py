"""Home as a reader meets it: clicks and keys move the blank, a sentence is taken along, every stop is a link."""

import re
from itertools import pairwise

import pytest

from tests.browser.driver import MINUTES, expect, open_page, type_into, wait_idle
from tests.server import LESSON_PAGES


def answered(page):
    """The three models, once they have answered: before torch is there the page shows a frame."""
    models = page.locator(".st-key-first-minute .mb-models:not([aria-busy])")
    expect(models).to_be_visible(timeout=MINUTES)
    wait_idle(page)
    return models


def blank(page, place: int) -> None:
    """Wait until this word, and no other, is hidden."""
    expect(page.locator(f".st-key-hide-{place} button")).to_have_text("[MASK]")
    wait_idle(page)
    assert words(page).all_inner_texts().count("[MASK]") == 1


def words(page):
    return page.locator('[class*="st-key-hide-"]:not(:has(kbd)) button')


def test_clicks_keys_and_the_way_back_move_the_blank(page):
    open_page(page)
    models = answered(page)
    before = models.inner_text()
    page.get_by_role("button", name="keys", exact=True).click()
    blank(page, 1)
    expect(page).to_have_url(re.compile("blank=2"))
    assert models.inner_text() != before
    page.keyboard.press("ArrowRight")
    blank(page, 2)
    page.keyboard.press("ArrowLeft")
    blank(page, 1)
    page.locator(".st-key-hide-4 button").focus()
    page.keyboard.press("Enter")
    blank(page, 4)
    page.go_back()
    blank(page, 1)


POLLS = """
const {setInterval: every, setTimeout: later} = window;
window.setInterval = (run, delay, ...rest) => every(run, Math.min(delay, 100), ...rest);
window.setTimeout = (run, delay, ...rest) => later(run, delay || 500, ...rest);
"""


def test_a_click_counts_once_though_a_timer_sends_before_it(browser, server):
    """The page asks for the teacher's offer all the time, and what is clicked is sent only half a second later."""
    hurried = browser.new_context(base_url=server)  # of its own: in the others' window the script would stay
    try:
        hurried.add_init_script(POLLS)
        window = hurried.new_page()
        window.goto("/")
        button = window.locator(".st-key-hide-1 button")
        button.click(timeout=MINUTES)
        expect(button).to_have_text("[MASK]")
        window.keyboard.press("ArrowRight")
        expect(window.locator(".st-key-hide-2 button")).to_have_text("[MASK]")
        expect(window).to_have_url(re.compile("blank=3"))
    finally:
        hurried.close()


def test_a_sentence_is_typed_and_taken_along_and_a_stop_is_a_link_all_over(page):
    open_page(page)
    answered(page)
    stops = page.locator(".st-key-road a:not([href^='#'])")  # headings have a link of their own
    assert {link.get_attribute("href").strip("/") for link in stops.all()} == LESSON_PAGES - {"home"}
    boxes = [link.bounding_box() for link in stops.all()]
    columns = {box["x"]: sorted((b["y"], b["y"] + b["height"]) for b in boxes if b["x"] == box["x"]) for box in boxes}
    for column in columns.values():  # no tile lies on the one below it
        assert all(bottom <= top for (_, bottom), (top, _) in pairwise(column))
    type_into(page, page.get_by_label("Your sentence"), "The cat sat on the mat.")
    expect(words(page)).to_have_text(
        ["The", "cat", "sat", "on", "the", "[MASK]", "."]
    )  # those of before go a bit later
    name, box = stops.last.get_attribute("href").strip("/"), stops.last.bounding_box()
    stops.last.click(position={"x": box["width"] - 4, "y": box["height"] - 4})
    expect(page).to_have_url(re.compile(f"/{name}"))
    wait_idle(page)
    page.go_back()
    answered(page)
    expect(page.get_by_label("Your sentence")).to_have_value("The cat sat on the mat.")
    page.get_by_role("link", name="Blanks: Masking").click()
    expect(page.get_by_label("Sentence with blanks")).to_have_value(re.compile(r"^The cat sat on the \S+"))


@pytest.mark.release
def test_every_lesson_is_reached_from_the_menu_and_opens(page):
    """That no exception was shown on the way is checked after each test."""
    open_page(page)
    menu = page.get_by_test_id("stSidebarNav")
    addresses = [link.get_attribute("href") for link in menu.get_by_role("link").all()]
    assert len(addresses) == len(LESSON_PAGES)
    for address in addresses[::-1]:
        menu.locator(f'a[href="{address}"]').click()
        expect(page).to_have_url(re.compile(re.escape(address.strip("./")) or "/(home)?$"))
        wait_idle(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.release
@pytest.mark.parametrize("page", [{"viewport": {"width": 1920, "height": 1080}}], indirect=True)
def test_a_wall_shows_the_picture_whole(page):
    open_page(page, projector=1)
    answered(page)
    box = page.locator(".mb-through .scene").bounding_box()
    assert box["y"] + box["height"] <= 1080, box
    small = "all => Math.min(...all.map(e => parseFloat(getComputedStyle(e).fontSize)))"
    assert page.locator(".mb-through :is(svg text, .answer)").evaluate_all(small) >= 19
