"""The fine-tuning page in a browser: real runs, watched, stopped, left and found again."""

import re

import pytest

from tests.browser.driver import MINUTES, expect, open_page, wait_idle


def start(page, epochs: str) -> None:
    open_page(page, "classification")
    slider = page.get_by_role("slider", name="Epochs")
    slider.press("Home" if epochs == "few" else "End")
    wait_idle(page)
    page.get_by_role("button", name=re.compile("Train 2 models")).click()


@pytest.mark.slow
def test_runs_draw_curves_answer_and_are_found_again(page, browser):
    start(page, "few")
    expect(page.locator('[class*="st-key-curves"] .js-line').first).to_be_attached(timeout=MINUTES)
    expect(page.get_by_text("Right and wrong")).to_be_visible(timeout=MINUTES)
    expect(page.get_by_text("P(positive)").first).to_be_attached()
    wait_idle(page)  # the page comes once more when the last run has ended
    field = page.get_by_role("textbox", name="Your own sentence")
    field.fill("A dull evening, badly played.")
    field.press("Enter")
    expect(page.get_by_text("“A dull evening, badly played.”")).to_be_visible(timeout=MINUTES)
    page.reload()
    expect(page.get_by_text("Right and wrong")).to_be_visible(timeout=MINUTES)


@pytest.mark.slow
def test_stop_takes_effect_and_the_page_goes_on(page):
    start(page, "many")
    page.get_by_role("button", name="Stop").first.click(timeout=MINUTES)
    expect(page.get_by_text(re.compile("seed 0: stopped")).first).to_be_visible(timeout=MINUTES)
    page.get_by_role("button", name="Stop").first.click(timeout=MINUTES)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=MINUTES)
    expect(page.get_by_role("button", name=re.compile("Train 2 models"))).to_be_enabled()


def test_a_wrong_file_is_named(page):
    open_page(page, "classification", data="own")
    page.locator('input[type="file"]').set_input_files(
        {"name": "mine.tsv", "mimeType": "text/plain", "buffer": b"sentence\tscore\nfine\t1\n"}
    )
    expect(page.get_by_text(re.compile("the header has no label column"))).to_be_visible()


def test_a_file_of_200_mb_is_refused(page, tmp_path):
    big = tmp_path / "big.tsv"
    with open(big, "wb") as file:
        file.truncate(200 * 2**20)
    open_page(page, "classification", data="own")
    page.locator('input[type="file"]').set_input_files(str(big))
    expect(page.get_by_text(re.compile(r"must be 100\.?0?\s?MB or smaller"))).to_be_visible(timeout=MINUTES)
