"""The pre-training page in a browser: a story, wrong files; and, slow, a real run that is stopped, resumed and kept."""

import re

import pytest

from tests.browser.driver import expect, open_page, wait_idle

MINUTES = 300_000  # milliseconds: two cores may be busy


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


@pytest.mark.slow
def test_a_run_is_stopped_resumed_looked_back_at_and_found_on_another_page(page):
    open_page(page, "pretraining", budget="steps", steps=100)
    page.get_by_role("textbox", name="Name of the run").fill("My <b>first</b> BERT")
    page.get_by_role("button", name="Train", exact=True).click()
    content = page.get_by_test_id("stMainBlockContainer")
    expect(page.locator('[class*="st-key-curves"] .js-line').first).to_be_attached(timeout=MINUTES)
    content.get_by_role("button", name="Stop").click()
    content.get_by_role("button", name="Resume").click(timeout=MINUTES)
    expect(content.get_by_text("My <b>first</b> BERT: finished")).to_be_visible(timeout=MINUTES)
    wait_idle(page)
    expect(page.get_by_text("What it answers")).to_be_visible(timeout=MINUTES)
    page.get_by_role("slider", name="Step").press("Home")
    expect(page).to_have_url(re.compile("at=1"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download this model").click()
    assert download.value.suggested_filename == "My-b-first-b-BERT.zip"
    open_page(page, "masking")
    page.get_by_role("combobox", name="Model").click()
    expect(page.get_by_role("option", name="My <b>first</b> BERT")).to_be_visible()
