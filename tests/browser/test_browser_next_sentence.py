"""The next-sentence page in a browser: one pair followed, judged, guessed, and shared by its link."""

import re

import pytest

from tests.browser.driver import expect, open_page, screenshot, wait_idle


def test_a_pair_is_followed_with_the_keyboard(page):
    open_page(page, "next_sentence", pair=2)
    table = page.locator(".ns-rows").nth(1)
    expect(table.locator("tr.ns-chunk").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(table.locator("tr.ns-a").first).to_be_visible()
    expect(page).to_have_url(re.compile("step=2"))
    page.get_by_role("button", name="6. input").click()
    expect(page.get_by_role("list", name="What the model reads")).to_contain_text("[CLS]")
    page.reload()
    expect(page.get_by_role("list", name="What the model reads")).to_contain_text("[CLS]")


def test_an_example_is_judged_and_shared(page):
    open_page(page, "next_sentence")
    bars = page.locator(".st-key-judgement .annotation-text")
    before = bars.all_text_contents()
    page.get_by_role("radio", name="swapped", exact=True).click()
    expect(bars).to_have_text(before[::-1])
    expect(page).to_have_url(re.compile("kind=swapped"))
    field = page.get_by_role("textbox", name="B", exact=True)
    field.fill("<b>x</b> and [UNK]")
    field.press("ControlOrMeta+Enter")
    expect(page).to_have_url(re.compile("b=%3Cb%3E"))
    page.reload()
    wait_idle(page)
    expect(field).to_have_value("<b>x</b> and [UNK]")


def test_the_truth_is_told_after_the_guess(page):
    open_page(page, "next_sentence")
    expect(page.get_by_text("In truth: ")).to_have_count(1)  # of the example, not of the game
    page.get_by_role("button", name="B is from elsewhere").click()
    expect(page.get_by_text("topic only ✓").or_(page.get_by_text("topic only ✗"))).to_be_visible()
    page.get_by_role("button", name="Next pair").click()
    expect(page.get_by_text("Pair 2 of 10")).to_be_visible()


@pytest.mark.parametrize(
    "page",
    [
        {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
        {"viewport": {"width": 1920, "height": 1080}, "color_scheme": "dark"},
        {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    ],
    ids=["laptop", "projector-dark", "phone"],
    indirect=True,
)
def test_it_fits(page, request):
    open_page(page, "next_sentence")
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= page.viewport_size["width"]
    small = page.evaluate(
        "[...document.querySelectorAll('.stPlotlyChart text')].map(t => parseFloat(getComputedStyle(t).fontSize))"
    )
    assert small
    assert min(small) >= 14
    screenshot(page, f"next_sentence-{request.node.callspec.id}")
