"""The encoder and decoder page in a browser: its picture stands still where motion is unwelcome, and is stepped."""

import re

import pytest

from tests.browser.driver import expect, open_page


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_where_motion_is_unwelcome_it_stands_at_its_end_until_it_is_asked(page):
    open_page(page, "encoder_decoder", half="decoder")
    picture = page.locator(".st-key-picture .moving")
    count, slider = picture.locator(".count"), picture.get_by_role("slider")
    expect(slider).not_to_have_attribute("max", "0")
    last = int(slider.get_attribute("max"))
    expect(count).to_have_text(f"step {last} of {last}")
    assert picture.evaluate("e => [e.mbPlayer.timer, e.getAnimations({subtree: true}).length]") == [None, 0]
    picture.focus()
    page.keyboard.press("ArrowLeft")
    expect(count).to_have_text(f"step {last - 1} of {last}")
    page.get_by_role("radio", name="Encoder: BERT").click()
    expect(page).to_have_url(re.compile("half=encoder"))
    expect(page.locator(".st-key-picture svg[role=img]")).to_have_attribute("aria-label", re.compile("Encoder"))
    expect(slider).not_to_have_attribute("max", str(last))  # another film, at its end
    assert slider.input_value() == slider.get_attribute("max")
    page.go_back()
    expect(slider).to_have_attribute("max", str(last))
