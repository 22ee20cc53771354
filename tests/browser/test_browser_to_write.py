"""The page To write as a reader meets it: a mask, a text that comes into being token by token, and one's own."""

import re

import pytest

from tests.browser.driver import MINUTES, assert_no_markup, expect, open_page, type_into, wait_idle

TEXT = "Text in words of the toy world"
OWN = "rosa bought the old lamp. who bought the lamp?"


def numbers(picture) -> tuple[int, int]:
    """(the step, the last one)"""
    return tuple(map(int, re.findall(r"\d+", picture.locator(".count").inner_text())))


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_it_stands_written_until_it_is_stepped(page):
    open_page(page, "to_write")
    picture = page.locator(".st-key-picture .moving")
    step, last = numbers(picture)
    assert step == last > 2
    expect(picture.locator(".said")).to_have_text(re.compile("has a probability"))
    picture.get_by_role("button", name="One step back").click()
    expect(picture.locator(".said")).to_have_text(re.compile(r"^\[MASK\] sees"))
    before = picture.locator(".said").inner_text()
    picture.focus()
    page.keyboard.press("ArrowLeft")
    expect(picture.locator(".said")).not_to_have_text(before)
    page.keyboard.press("ArrowRight")
    expect(picture.locator(".said")).to_have_text(before)


def test_it_plays_and_halts(page):
    open_page(page, "to_write")
    picture = page.locator(".st-key-picture .moving")
    play = picture.locator(".play")
    if "Pause" in play.inner_text():
        play.click()
    expect(play).to_have_text(re.compile("Play"))
    picture.get_by_role("slider").fill("0")
    expect(picture.locator(".said")).to_have_text(re.compile("nothing is written yet"))
    play.click()
    expect(play).to_have_text(re.compile("Pause"))
    expect(picture.locator(".said")).to_have_text(re.compile(r"^\[MASK\] sees"), timeout=10_000)
    play.click()
    expect(play).to_have_text(re.compile("Play"))
    halted = picture.locator(".count").inner_text()
    page.wait_for_timeout(2_500)
    expect(picture.locator(".count")).to_have_text(halted)


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_a_question_of_ones_own_and_another_mask(page):
    open_page(page, "to_write")
    svg = page.locator(".st-key-picture svg")
    type_into(page, page.get_by_label(TEXT, exact=True), OWN)
    expect(svg.locator("text", has_text="rosa").first).to_be_visible()
    page.get_by_text("Both ways (⅓)").click()
    expect(page).to_have_url(re.compile("mask=both_ways"))
    expect(page.locator(".st-key-picture .said")).to_have_text(re.compile("as in BERT"))
    page.reload()
    wait_idle(page)
    expect(page.locator(".st-key-picture .said")).to_have_text(re.compile("as in BERT"))
    type_into(page, page.get_by_label(TEXT, exact=True), "你想吃啥 [SEP] <b>白切鸡")
    assert_no_markup(page)


def test_noises_are_drawn_again(page):
    open_page(page, "to_write", part="BART’s noises")
    drawn = page.locator(".mb-noises").inner_text()
    page.get_by_role("button", name="Draw again").click()
    expect(page.locator(".mb-noises")).not_to_have_text(drawn)


def test_both_learn_to_answer_and_are_found_again(page):
    open_page(page, "to_write", part="Ask and answer")
    slider = page.get_by_role("slider", name="Steps")
    slider.focus()
    slider.press("Home")
    wait_idle(page)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".st-key-answers-learned .legendtext")).to_have_count(2, timeout=MINUTES)
    page.reload()
    expect(page.locator(".st-key-answers-learned .legendtext")).to_have_count(2, timeout=MINUTES)


def test_a_bart_learns_to_restore_is_stopped_and_found_again(page):
    open_page(page, "to_write", part="BART restores")
    expect(page.locator(".mb-noises > li")).to_have_count(1)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator(".st-key-bart-learned .legendtext")).to_have_count(3, timeout=MINUTES)
    expect(page.locator(".mb-noises > li")).to_have_count(2, timeout=MINUTES)
    type_into(page, page.get_by_label("A text to be restored, in words of the toy world", exact=True), "rosa sang. <b>")
    assert_no_markup(page)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    page.reload()
    expect(page.locator(".st-key-bart-learned .legendtext")).to_have_count(3, timeout=MINUTES)
