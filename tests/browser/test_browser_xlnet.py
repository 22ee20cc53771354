"""XLNet as a reader meets it: another order moves both masks, a click on a cell says why."""

import re

from tests.browser.driver import click_point, expect, open_page, type_into, wait_idle

TEXT = "Text in words of the toy world"


def order(page) -> list[str]:
    return page.locator(".mb-xlnet > li b").all_inner_texts()


def test_another_order_is_drawn_and_kept_in_the_link(page):
    open_page(page, "xlnet")
    before = order(page)
    page.get_by_role("button", name="Draw another order").click()
    expect(page).to_have_url(re.compile(r"seed=6"))
    wait_idle(page)
    drawn = order(page)
    assert sorted(drawn) == sorted(before) and drawn != before
    page.reload()
    wait_idle(page)
    assert order(page) == drawn


def test_a_click_on_a_cell_says_whether_it_may_look(page):
    open_page(page, "xlnet", order="right")
    picture = page.locator(".st-key-picture")
    expect(picture.get_by_text(re.compile("query stream: no"))).to_be_visible()  # the last word at itself
    click_point(page, page.locator(".st-key-orders"), 0)
    wait_idle(page)
    expect(picture.get_by_text(re.compile("content stream: yes"))).to_be_visible()


def test_a_sentence_of_ones_own_has_its_order(page):
    open_page(page, "xlnet")
    type_into(page, page.get_by_label(TEXT, exact=True), "sofia was a kind girl.")
    expect(page.locator(".mb-xlnet > li")).to_have_count(6)
    expect(page.locator(".st-key-orders svg").first).to_be_visible()


def test_a_row_of_ones_own_is_read_behind_another(page):
    open_page(page, "xlnet", part="Memory")
    told = page.get_by_text(re.compile("with the first row in the memory"))
    expect(told).to_contain_text("“slept”")
    type_into(page, page.get_by_label("The next row, which is asked", exact=True), "she smiled.")
    expect(told).not_to_contain_text("“slept”")
    page.get_by_text("felix lost the scarf. | he searched").click()
    expect(page.get_by_label("A row, which stays in the memory", exact=True)).to_have_value(re.compile("^felix"))
    expect(page.locator(".st-key-memory-attention svg").first).to_be_visible()
