"""The family tree in a browser: a click in the tree chooses a model, and the link keeps it."""

from minibert.family import family
from sections.family.subject import FILE
from tests.browser.driver import click_point, expect, open_page, wait_idle

NAMES = list(family(FILE))


def test_a_click_in_the_tree_chooses_a_model(page):
    open_page(page, "family")
    tree, card = page.locator(".st-key-wide-family-tree"), page.locator(".st-key-family-card")
    expect(card).to_contain_text("BERT · Google · 2018-10")
    click_point(page, tree, NAMES.index("ALBERT"))
    expect(card).to_contain_text("ALBERT · Google and TTIC · 2019-09")
    expect(card.get_by_role("link", name="ALBERT")).to_be_visible()
    wait_idle(page)
    assert f"model={NAMES.index('ALBERT') + 1}" in page.url
    page.reload()
    expect(card).to_contain_text("11,683,584")


def test_the_table_is_there_and_scrolls_by_itself(page):
    open_page(page, "family", part="All in one table")
    table = page.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    assert table.bounding_box()["width"] <= page.viewport_size["width"]
