"""The input page in a browser: its stepper, its link, hostile text."""

import re

import pytest

from tests.browser.driver import expect, open_page, screenshot, wait_idle


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


def test_markup_stays_text(page):
    open_page(page, "input")
    field = page.get_by_label("First sentence")
    field.fill("</script><img src=x onerror=document.title='broken'>")
    field.press("Enter")
    expect(page.locator(".mb-rows").first).to_contain_text("script")
    wait_idle(page)
    assert page.locator("img[src=x]").count() == 0 and page.title() != "broken"


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}, {"color_scheme": "light"}], indirect=True)
def test_it_fits(page):
    open_page(page, "input", step=5)
    screenshot(page, f"input-{page.evaluate('matchMedia(`(prefers-color-scheme: dark)`).matches ? `dark` : `light`')}")
    widths = page.evaluate(
        """() => [...document.querySelectorAll('.mb-rows')].map(e => [e.scrollWidth, e.clientWidth])"""
    )
    assert all(inner <= outer + 2 for inner, outer in widths)
