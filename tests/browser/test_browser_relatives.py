"""What the lessons about BERT's relatives have in common, in a browser."""

import pytest

from tests.browser.driver import (
    MINUTES,
    assert_no_markup,
    expect,
    open_page,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE, IN_A_BROWSER

TEXT = "Text in words of the toy world"
LABELS = {"what_to_hide": "Text, English or Chinese"}
every_relative = pytest.mark.parametrize("name", ["electra", "xlnet", "albert", "nezha", "what_to_hide", "to_write"])


@every_relative
def test_any_text_is_text(page, name):
    open_page(page, name)
    for text in IN_A_BROWSER:
        type_into(page, page.get_by_label(LABELS.get(name, TEXT), exact=True), HOSTILE[text], "Enter")
        assert_no_markup(page)
        expect(page.get_by_role("heading", name="Check yourself")).to_be_visible()


@every_relative
def test_both_are_trained_and_found_again(page, name):
    open_page(page, name, part="Train both")
    slider = page.get_by_role("slider", name="Steps")
    slider.focus()
    slider.press("Home")
    wait_idle(page)
    page.get_by_role("button", name="Train both").click()
    expect(page.locator(".st-key-wide-both .legendtext")).to_have_count(2, timeout=MINUTES)
    page.reload()
    expect(page.locator(".st-key-wide-both .legendtext")).to_have_count(2, timeout=MINUTES)
    expect(page.locator(".st-key-wide-both-answers .xtick, .st-key-wide-both-answers .ytick").first).to_be_visible()
