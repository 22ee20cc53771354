"""ELECTRA as a reader meets it: the dice fall again at a press, a word of one's own is judged."""

import re

from tests.browser.driver import (
    expect,
    open_page,
    type_into,
    wait_idle,
)

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
