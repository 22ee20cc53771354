"""One sentence through BERT in a browser: it rises once and stands still, is stepped by keys, tells its numbers, and a
click goes to the lesson with the sentence."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.driver import MINUTES, expect, open_page, until, wait_idle

STILL = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
LAPTOP = {"viewport": {"width": 1280, "height": 800}}
GONE = re.compile("away")
# Whether five frames are drawn alike.
STANDS = """async (svg) => {
  const before = svg.outerHTML;
  for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
  return svg.outerHTML === before;
}"""


def drawn(page):
    """The picture, once the models have computed it."""
    expect(page.locator(".mb-through .answer.blank")).to_be_attached(timeout=MINUTES)
    wait_idle(page)
    return page.locator(".mb-through")


def columns(page) -> int:
    """How many columns the tokens have reached."""
    return page.locator(".mb-through .column:not(.away)").count()


@pytest.mark.parametrize("page", [STILL], indirect=True)
def test_without_motion_its_end_tells_numbers_and_a_click_opens_the_lesson(page):
    open_page(page, "through")
    picture = drawn(page)
    assert columns(page) == 10  # letters, pieces, vectors, six blocks, answers
    expect(picture.locator(".moving")).to_have_class(GONE)
    svg, tip = picture.locator("svg"), picture.locator(".tip")
    piece = svg.locator("text.piece", has_text="cabinet").first.bounding_box()
    page.mouse.move(piece["x"] + 8, piece["y"] + 8)
    expect(tip).to_contain_text(re.compile(r"cabinet\D+7\D+11"))
    head = svg.locator('.head[data-head="2.4"]').bounding_box()
    page.mouse.move(head["x"] + head["width"] / 2, head["y"] + head["height"] / 2)
    expect(tip).to_contain_text(re.compile(r"3\D+5.*cabinet.*\d+\.\d\s%"))
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile("/attention"))
    wait_idle(page)
    said = parse_qs(urlsplit(page.url).query)
    assert said["sentence"] == ["The keys to the old cabinet [MASK] lost."]
    assert (said["layer"], said["head"]) == (["3"], ["5"])
    page.go_back()
    drawn(page)
    page.locator(".mb-through .names a", has_text="Block 3").click()
    expect(page).to_have_url(re.compile("/encoder_decoder"))
    wait_idle(page)
    said = parse_qs(urlsplit(page.url).query)
    assert (said["part"], said["layer"], said["model"]) == (["The block"], ["3"], ["minilm-en"])
    assert said["sentence"] == ["The keys to the old cabinet [MASK] lost."] and said["token"] == ["8"]
    page.go_back()
    drawn(page)
    page.locator(".mb-through .answer.blank").click()
    expect(page).to_have_url(re.compile("/masking"))
    wait_idle(page)
    assert "cloze" in parse_qs(urlsplit(page.url).query)
    row = page.locator(".st-key-here")  # where one is on the way through BERT
    expect(row.locator('[class*="st-key-lit-"]')).to_have_text(["Blank"])
    assert row.bounding_box()["height"] <= 28


@pytest.mark.parametrize("page", [LAPTOP], indirect=True)
def test_it_rises_once_is_paused_and_stepped_by_keys(page):
    page.goto("/through")
    expect(page.locator(".mb-through .answer.blank")).to_be_attached(timeout=MINUTES)
    until(page, lambda: columns(page) == 10)
    svg = page.locator(".mb-through svg")
    svg.focus()
    page.keyboard.press("Home")
    until(page, lambda: columns(page) == 1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")  # while the first step is still under way
    until(page, lambda: columns(page) == 3)
    expect(page).to_have_url(re.compile("stage=3"))
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert columns(page) < 10, "it stands where it was paused"
    assert svg.evaluate(STANDS)
    here = columns(page)
    page.keyboard.press("ArrowLeft")
    until(page, lambda: columns(page) == here - 1)
    page.keyboard.press("1")
    expect(page.get_by_role("radio", name="Random weights")).to_have_attribute("aria-checked", "true")
    expect(page).to_have_url(re.compile("model=untrained"))
