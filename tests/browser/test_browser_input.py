"""The input page in a browser: its stepper, its link, hostile text."""

import re

from tests.browser.driver import assert_fits, assert_no_markup, expect, on_every_screen, open_page, type_into
from tests.hostile import HOSTILE, texts_in_a_browser


def test_the_row_grows_step_by_step(page):
    open_page(page, "input")
    expect(page.locator(".mb-rows").first).not_to_contain_text("[CLS]")
    for name in ("frame", "ids", "segments", "padding"):
        page.get_by_role("button", name=re.compile(f"\\d. {name}")).click()
        expect(page.get_by_role("button", name=re.compile(f"\\d. {name}"))).to_have_attribute("kind", "primary")
    expect(page.locator(".mb-rows").first).to_contain_text("attention mask")
    expect(page).to_have_url(re.compile(r"[?&]step=5\b"))


def test_a_link_to_a_lesson_opens_it_with_menu_and_state(page):
    open_page(page, "input", step=3, a="Only a test.", pair="false")
    expect(page.get_by_label("First sentence")).to_have_value("Only a test.")
    expect(page.get_by_role("link", name="Tokenization").first).to_be_visible()
    expect(page.locator(".mb-rows").first).to_contain_text("test")


@texts_in_a_browser
def test_any_text_is_text(page, names):
    open_page(page, "input", step=5)
    for name in names:
        type_into(page, page.get_by_label("First sentence"), HOSTILE[name])
        assert_no_markup(page)
    type_into(page, page.get_by_label("First sentence"), "It barked.")
    expect(page.locator(".mb-rows").first).to_contain_text("bark##ed")


@on_every_screen
def test_it_fits(page, request):
    open_page(page, "input", step=5)
    assert_fits(page, f"input-{request.node.callspec.id}")
    if page.viewport_size["width"] < 500:
        return  # a phone scrolls the rows inside their own box
    for inner, outer in page.locator(".mb-rows").evaluate_all("rows => rows.map(e => [e.scrollWidth, e.clientWidth])"):
        assert inner <= outer + 2
