"""The encoder and decoder page in a browser: clicks in its figures, and a Transformer trained on the spot."""

import re

import pytest

from tests.browser.driver import MINUTES, click_point, expect, open_page, wait_idle


def test_a_click_on_the_circuit_is_a_step(page):
    open_page(page, "encoder_decoder")
    circuit = page.locator(".st-key-ed-circuit")
    click_point(page, circuit, circuit.locator(".scatterlayer .point").count() - 1)
    expect(page.get_by_text("after gain and bias").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"step=7"))


def test_a_click_on_a_row_lights_it_in_all_three(page):
    open_page(page, "encoder_decoder", part="Three masks", sentence="one two three four")
    click_point(page, page.locator(".st-key-ed-masks"))
    expect(page).to_have_url(re.compile(r"position=1"))
    expect(page.locator(".st-key-ed-masks .annotation-text").nth(1)).to_contain_text("sees 1 of 4")


@pytest.mark.slow
def test_it_trains_and_says_the_sentence_backwards(page):
    open_page(page, "encoder_decoder", part="Train a Transformer", sentence="Two zebras sang")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator('[class*="st-key-ed-learning"] .js-line').first).to_be_attached(timeout=MINUTES)
    expect(page.get_by_role("heading", name="What it looks at")).to_be_visible(timeout=MINUTES)
    wait_idle(page)
    expect(page.get_by_role("button", name=re.compile("1. sang"))).to_be_visible()
    page.get_by_role("button", name=re.compile("2. zebras")).click()
    expect(page).to_have_url(re.compile(r"say=2"))


@pytest.mark.slow
def test_stop_ends_a_run(page):
    open_page(page, "encoder_decoder", part="Train a Transformer")
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("button", name="Stop").click(timeout=MINUTES)
    expect(page.get_by_text(re.compile("reverse: stopped"))).to_be_visible(timeout=MINUTES)
