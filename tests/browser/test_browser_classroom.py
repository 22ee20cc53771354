"""Class in a browser: the key, which a cookie keeps, and the door that closes before a newcomer."""

import re

import pytest

from tests.browser.driver import assert_fits, expect, open_page, wait_idle

KEY = re.compile(r"with the key\s+(\S+)")


@pytest.fixture(scope="module")
def key(server, tmp_path_factory):
    """As the server printed it."""
    logs = tmp_path_factory.getbasetemp().glob("server*/log.txt")
    return next(found[1] for log in logs if (found := KEY.search(log.read_text(encoding="utf-8"))))


def enter(page, key):
    open_page(page, "classroom")
    page.get_by_label("Key", exact=True).fill(key)
    page.locator(".stMain").get_by_role("button", name="Open", exact=True).click()


def test_a_visitor_learns_nothing_and_the_teacher_enters(page, key):
    numbers, link = page.get_by_test_id("stMetric"), page.locator('[data-testid=stSidebarNav] a[href$="/classroom"]')
    enter(page, "aaaa-bbbb-cccc-dddd")
    expect(page.get_by_test_id("stAlert")).to_be_visible()
    expect(numbers).to_have_count(0)
    expect(link).not_to_be_visible()
    enter(page, key)
    expect(page.get_by_role("heading", name="Who is there")).to_be_visible()
    expect(link).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Who is there")).to_be_visible()


@pytest.mark.release
def test_it_fits_every_screen(page, key):
    enter(page, key)
    expect(page.get_by_role("heading", name="Who is there")).to_be_visible()
    for size, scheme in (({"width": 1280, "height": 900}, "dark"), ({"width": 390, "height": 844}, "light")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        wait_idle(page)
        assert_fits(page, f"classroom-{scheme}")


@pytest.mark.release
def test_a_newcomer_needs_the_code_and_who_was_there_does_not(page, browser, server, key):
    enter(page, key)
    expect(page.locator('[class*="st-key-class-numbers"]').get_by_text("1", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Close the door").click()
    code = page.locator(".mb-room-code")
    expect(code).to_be_visible()
    newcomer = browser.new_context(base_url=server)
    try:
        window = newcomer.new_page()
        window.goto("/masking")
        expect(window.get_by_role("heading", name="This class has closed its door")).to_be_visible()
        window.get_by_label("Room code").fill("AAAAA")
        window.get_by_role("button", name="Come in").click()
        expect(window.get_by_test_id("stAlert")).to_be_visible()
        window.get_by_label("Room code").fill(code.inner_text())
        window.get_by_role("button", name="Come in").click()
        expect(window.get_by_role("heading", level=1, name="Masking")).to_be_visible()
    finally:
        newcomer.close()
        page.get_by_role("button", name="Open the door").click()
        expect(page.get_by_role("heading", name="The door is open")).to_be_visible()
