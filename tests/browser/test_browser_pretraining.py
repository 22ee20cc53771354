"""The pre-training page in a browser: a story, wrong files. Runs are tested in tests/pages, through real workers."""

import re

from tests.browser.driver import expect, open_page, wait_idle


def test_a_story_of_the_link_is_told_and_another_one_follows(page):
    open_page(page, "pretraining", story=5)
    told = page.locator("ol.mb-tokens").first
    before = told.inner_text()
    page.get_by_role("button", name="Another story").click()
    expect(told).not_to_have_text(before)
    expect(page).to_have_url(re.compile("story=6"))
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_enabled()


def test_a_file_that_is_no_text_is_refused(page):
    open_page(page, "pretraining", data="own")
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_disabled()
    page.locator('input[type="file"]').set_input_files(
        {"name": "mine.txt", "mimeType": "text/plain", "buffer": b"caf\xe9\n"}
    )
    expect(page.get_by_text("mine.txt, line 1: not UTF-8")).to_be_visible()


def test_settings_are_there_when_the_reader_comes_back_by_the_menu(page):
    open_page(page, "pretraining")
    page.get_by_role("radio", name="This course").click()
    wait_idle(page)
    steps = page.get_by_role("slider", name="Steps")
    steps.press("Home")
    wait_idle(page)
    page.get_by_role("link", name="Why runs differ").first.click()
    wait_idle(page)
    page.get_by_role("link", name="Pre-training", exact=True).first.click()
    wait_idle(page)
    expect(page.get_by_role("radio", name="This course")).to_be_checked()
    expect(steps).to_have_value("50")
