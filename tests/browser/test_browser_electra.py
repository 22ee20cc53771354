"""ELECTRA as a reader meets it: the dice fall again at a press, any text is text, a pair of runs is seen to learn."""

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


def columns(page) -> list[str]:
    return page.locator(".mb-electra > li").all_inner_texts()


def test_the_dice_fall_again_and_the_link_says_how(page):
    open_page(page, "electra")
    first = columns(page)
    assert len(first) > 10
    page.get_by_role("button", name="Draw again").click()
    expect(page).to_have_url(re.compile(r"seed=2"))
    wait_idle(page)
    again = columns(page)
    assert again != first
    page.reload()
    wait_idle(page)
    assert columns(page) == again


def test_a_word_of_ones_own_is_judged(page):
    open_page(page, "electra")
    type_into(page, page.get_by_label(TEXT, exact=True), "sofia was a kind boy.")
    expect(page.locator(".mb-electra > li")).to_have_count(6)
    assert all("%" in column for column in columns(page))


@texts_in_a_browser
def test_any_text_is_text(page, names):
    open_page(page, "electra")
    for name in names:
        type_into(page, page.get_by_label(TEXT, exact=True), HOSTILE[name], "Enter")
        assert_no_markup(page)
        expect(page.get_by_role("heading", name="Check yourself")).to_be_visible()


@pytest.mark.slow
def test_both_are_trained_and_found_again(page):
    open_page(page, "electra", part="Train both")
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
    open_page(page, "electra")
    assert_fits(page, "electra")
