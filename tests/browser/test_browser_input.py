"""The input page in a browser: its picture, stepped and pointed at."""

import re

import pytest

from tests.browser.driver import expect, open_page


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_three_strips_come_to_their_sum(page):
    open_page(page, "input", a="The river rose.", model="mini-en")
    picture = page.locator(".st-key-picture")
    expect(picture.locator(".count")).to_have_text("step 4 of 4")  # nothing moves: it stands at its end
    expect(picture.locator(".strip.empty")).to_have_count(0)
    picture.get_by_role("slider").press("Home")
    expect(picture.locator(".strip.empty")).to_have_count(2)  # the sum, and what LayerNorm makes of it
    picture.locator(".moving").focus()
    for step in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        expect(picture.locator(".count")).to_have_text(f"step {step} of 4")
    expect(picture.locator(".strip.empty")).to_have_count(1)
    picture.locator(".strip.sum i").nth(4).hover()
    told = picture.locator(".numbers").inner_text().replace("−", "-")
    numbers = [float(number) for number in re.findall(r"[+-]\d+\.\d+", told)]
    assert abs(sum(numbers[:3]) - numbers[3]) < 3e-6
    picture.get_by_role("button", name="river", exact=True).click()
    expect(picture.get_by_role("button", name="river", exact=True)).to_have_attribute("aria-pressed", "true")
