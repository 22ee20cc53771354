"""The next-sentence page in a browser: one pair followed, judged, guessed, and shared by its link."""

import re

from tests.browser.driver import expect, open_page, wait_idle


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
    open_page(page, "next_sentence", part="Judged live")
    bars = page.locator(".st-key-judgement .annotation-text")
    expect(bars).to_have_count(2)
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
    expect(page.get_by_text("In truth: ")).to_have_count(0)
    page.get_by_role("button", name="B is from elsewhere").click()
    expect(page.get_by_text(re.compile("Topic only [✓✗]"))).to_be_visible()
    page.get_by_role("button", name="Next pair").click()
    expect(page.get_by_text("Pair 2 of 10")).to_be_visible()
