"""ALBERT as a reader meets it: a token is followed, weights are moved, a pair of runs is seen to learn."""

import re

import pytest

from tests.browser.driver import (
    MINUTES,
    assert_fits,
    assert_no_markup,
    expect,
    on_every_screen,
    open_page,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE, texts_in_a_browser

TEXT = "Text in words of the toy world"


def moved(page) -> list[str]:
    return page.locator(".mb-albert li b").all_inner_texts()


def test_a_sentence_of_ones_own_is_moved(page):
    open_page(page, "albert")
    before = moved(page)
    assert len(before) >= 8 and all(text.startswith("moves") for text in before)
    type_into(page, page.get_by_label(TEXT, exact=True), "sofia was a kind boy.")
    expect(page).to_have_url(re.compile("text=sofia"))
    wait_idle(page)
    after = moved(page)
    assert after != before
    page.reload()
    wait_idle(page)
    assert moved(page) == after


def test_what_is_shared_changes_the_count(page):
    open_page(page, "albert")
    said = page.locator('[data-of="weights"]')
    expect(said).to_contain_text("11,683,584 weights")
    page.get_by_role("radio", name="nothing").click()
    expect(said).not_to_contain_text("11,683,584 weights")
    expect(page).to_have_url(re.compile("shared=none"))


@texts_in_a_browser
def test_any_text_is_text(page, names):
    open_page(page, "albert")
    for name in names:
        type_into(page, page.get_by_label(TEXT, exact=True), HOSTILE[name], "Enter")
        assert_no_markup(page)
        expect(page.get_by_role("heading", name="Check yourself")).to_be_visible()


@pytest.mark.slow
def test_both_are_trained_and_found_again(page):
    open_page(page, "albert", part="Train both")
    slider = page.get_by_role("slider", name="Steps")
    slider.focus()
    slider.press("Home")
    wait_idle(page)
    page.get_by_role("button", name="Train both").click()
    expect(page.locator(".st-key-wide-both .legendtext")).to_have_count(2, timeout=MINUTES)
    page.reload()
    expect(page.locator(".st-key-wide-both .legendtext")).to_have_count(2, timeout=MINUTES)
    expect(page.locator(".st-key-wide-both-answers .xtick, .st-key-wide-both-answers .ytick").first).to_be_visible()


@on_every_screen
def test_it_fits(page):
    open_page(page, "albert")
    assert_fits(page, "albert")
