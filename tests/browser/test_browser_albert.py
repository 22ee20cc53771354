"""ALBERT as a reader meets it: a token is followed, and the count changes with what is shared."""

import re

from tests.browser.driver import (
    expect,
    open_page,
    type_into,
    wait_idle,
)

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
