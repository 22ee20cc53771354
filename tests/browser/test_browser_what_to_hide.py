"""What to hide as a reader meets it: drawn anew at a press, kept in the link, Chinese words hidden whole."""

import re

from tests.browser.driver import MINUTES, expect, open_page, type_into, wait_idle

TEXT = "Text, English or Chinese"


def rows(page) -> list[str]:
    return page.locator(".mb-hide > li").all_inner_texts()


def test_it_is_drawn_anew_and_the_link_says_how(page):
    open_page(page, "what_to_hide")
    first = rows(page)
    assert len(first) == 6
    page.get_by_role("button", name="Draw again").click()
    expect(page).to_have_url(re.compile(r"seed=75"))
    wait_idle(page)
    again = rows(page)
    assert again != first
    page.reload()
    wait_idle(page)
    assert rows(page) == again


def test_a_chinese_text_has_chinese_words(page):
    open_page(page, "what_to_hide")
    type_into(page, page.get_by_label(TEXT, exact=True), "上海的天气很好。", "Enter")
    words = page.locator(".mb-hide > li").nth(1)
    expect(words.locator("li.joined").first).to_be_visible()
    assert all("[UNK]" not in row for row in rows(page))


def test_tasks_are_learned_one_by_one_and_found_again(page):
    open_page(page, "what_to_hide", part="One task after another", regime="one_by_one")
    expect(page.locator(".st-key-ernie2-plan .legendtext")).to_have_count(4)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".st-key-ernie2-learned .legendtext")).to_have_count(4, timeout=MINUTES)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    page.reload()
    expect(page.locator(".st-key-ernie2-learned .legendtext")).to_have_count(4, timeout=MINUTES)
