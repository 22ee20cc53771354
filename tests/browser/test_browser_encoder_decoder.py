"""The encoder and decoder page in a browser: clicks in its figures, and a Transformer trained on the spot."""

import re

import pytest

from tests.browser.driver import MINUTES, assert_no_markup, click_point, expect, open_page, wait_idle


def test_a_click_on_the_circuit_is_a_step(page):
    open_page(page, "encoder_decoder", part="The block")
    circuit = page.locator(".st-key-ed-circuit")
    click_point(page, circuit, circuit.locator(".scatterlayer .point").count() - 1)
    expect(page.get_by_text("after gain and bias").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"step=7"))


def test_the_arrow_keys_read_and_write_word_by_word(page):
    open_page(page, "encoder_decoder", part="Read and write", sentence="the robot <b>sang")
    picture = page.locator(".st-key-picture .moving")
    expect(picture.get_by_role("button", name=re.compile("Play"))).to_be_visible()  # it has run
    picture.focus()
    page.keyboard.press("ArrowLeft")
    said = picture.locator(".said")
    expect(said).to_have_text(re.compile(r"^Word \d"))
    before = said.inner_text()
    page.keyboard.press("ArrowLeft")
    expect(said).not_to_have_text(before)
    page.keyboard.press("ArrowRight")
    expect(said).to_have_text(before)
    assert_no_markup(page)


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
@pytest.mark.parametrize("half", ["both", "decoder", "encoder"])
def test_where_motion_is_unwelcome_it_stands_at_its_end_until_it_is_asked(page, half):
    open_page(page, "encoder_decoder", half=half)
    picture = page.locator(".st-key-picture .moving")
    play, count, slider = picture.locator(".play"), picture.locator(".count"), picture.get_by_role("slider")
    expect(play).to_have_text(re.compile("Play"))
    last = slider.get_attribute("max")
    expect(count).to_have_text(f"step {last} of {last}")
    page.wait_for_timeout(1500)  # longer than a film stands at its first step
    expect(count).to_have_text(f"step {last} of {last}")
    assert picture.evaluate("e => e.getAnimations({subtree: true}).length") == 0
    picture.focus()
    page.keyboard.press("ArrowLeft")
    expect(count).to_have_text(f"step {int(last) - 1} of {last}")


def test_each_half_is_lit_and_the_link_keeps_it(page):
    open_page(page, "encoder_decoder")
    page.get_by_role("radio", name="Encoder: BERT").click()
    expect(page).to_have_url(re.compile("half=encoder"))
    wait_idle(page)
    page.reload()
    wait_idle(page)
    expect(page.get_by_role("radio", name="Encoder: BERT")).to_be_checked()
    expect(page.locator(".st-key-picture svg[role=img]")).to_have_attribute("aria-label", re.compile("Lit: Encoder"))


def test_a_click_on_a_row_lights_it_in_all_three(page):
    open_page(page, "encoder_decoder", part="Three masks", sentence="one two three four")
    click_point(page, page.locator(".st-key-ed-masks"))
    expect(page).to_have_url(re.compile(r"position=1"))
    expect(page.locator(".st-key-ed-masks .annotation-text").nth(1)).to_contain_text("sees 1 of 4")


def test_it_trains_and_says_the_sentence_backwards(page):
    open_page(page, "encoder_decoder", part="Train a Transformer", sentence="Two zebras sang")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator('[class*="st-key-ed-learning"] .js-line').first).to_be_attached(timeout=MINUTES)
    expect(page.get_by_role("heading", name="What it looks at")).to_be_visible(timeout=MINUTES)
    wait_idle(page)
    expect(page.get_by_role("button", name=re.compile("1. sang"))).to_be_visible()
    page.get_by_role("button", name=re.compile("2. zebras")).click()
    expect(page).to_have_url(re.compile(r"say=2"))


def test_stop_ends_a_run(page):
    open_page(page, "encoder_decoder", part="Train a Transformer")
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("button", name="Stop").click(timeout=MINUTES)
    expect(page.get_by_text(re.compile("reverse: stopped"))).to_be_visible(timeout=MINUTES)
