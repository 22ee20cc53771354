"""Pages as a reader meets them: their pictures are played, stepped by keys, pointed at and clicked; Dialogue answers
while one types."""

import re

import pytest

from tests.browser.driver import expect, open_page, said_above, type_into, wait_idle


def test_the_helper_answers_as_one_types(page):
    open_page(page, "dialogue")
    finding = said_above(page, "intents")
    expect(finding).to_contain_text("set_alarm")
    said = page.get_by_label("Say it to the assistant, in English: it answers as you type", exact=True)
    said.fill("will it rain in Oslo tomorrow")  # and no Enter
    expect(finding).to_contain_text("get_weather")
    expect(page.locator("mark", has_text="tomorrow")).to_be_visible()


def test_points_move_are_clicked_and_a_new_star_rises(page):
    open_page(page, "embeddings", layer=2)
    picture = page.locator(".mb-moving")
    points, slider = picture.locator(".point"), picture.locator("input")

    def places() -> list[str]:
        return points.evaluate_all("all => all.map(e => e.style.transform)")

    expect(points).to_have_count(16)
    before = places()
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "3")
    assert places() != before
    expect(page).to_have_url(re.compile(r"[?&]layer=3\b"))
    picture.locator("svg").first.focus()  # the arrow keys work in the picture, too
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"[?&]layer=2\b"))
    wait_idle(page)
    assert places() == before
    points.nth(3).dispatch_event("click")
    expect(picture.locator(".lines path")).to_have_count(5)
    expect(page).to_have_url(re.compile(r"[?&]point=4\b"))
    open_page(page, "embeddings")
    type_into(page, page.get_by_label("Your sentence with"), "He fished from the bank.", "ControlOrMeta+Enter")
    expect(points).to_have_count(16)
    page.get_by_role("button", name="river", exact=True).click()
    expect(points).to_have_count(17)
    expect(slider).to_have_attribute("aria-valuetext", "6")  # it has risen to the last layer


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_where_motion_is_unwelcome_the_decoder_stands_at_its_end_until_it_is_asked(page):
    open_page(page, "encoder_decoder", half="decoder")
    picture = page.locator(".st-key-picture .moving")
    count, slider = picture.locator(".count"), picture.get_by_role("slider")
    expect(slider).not_to_have_attribute("max", "0")
    last = int(slider.get_attribute("max"))
    expect(count).to_have_text(f"step {last} of {last}")
    assert picture.evaluate("e => [e.mbPlayer.timer, e.getAnimations({subtree: true}).length]") == [None, 0]
    picture.focus()
    page.keyboard.press("ArrowLeft")
    expect(count).to_have_text(f"step {last - 1} of {last}")
    page.get_by_role("radio", name="Encoder: BERT").click()
    expect(page).to_have_url(re.compile("half=encoder"))
    expect(page.locator(".st-key-picture svg[role=img]")).to_have_attribute("aria-label", re.compile("Encoder"))
    expect(slider).not_to_have_attribute("max", str(last))  # another film, at its end
    assert slider.input_value() == slider.get_attribute("max")
    page.go_back()
    expect(slider).to_have_attribute("max", str(last))


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_three_strips_come_to_their_sum(page):
    open_page(page, "input", a="The river rose.", model="mini-en")
    picture = page.locator(".st-key-picture")
    expect(picture.locator(".count")).to_have_text("step 4 of 4")  # nothing moves: it stands at its end
    expect(picture.locator(".strip.empty")).to_have_count(0)
    picture.get_by_role("slider").press("Home")
    expect(picture.locator(".strip.empty")).to_have_count(2)  # the sum, and what LayerNorm makes of it
    picture.locator(".moving").focus()
    for step in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        expect(picture.locator(".count")).to_have_text(f"step {step} of 4")
    expect(picture.locator(".strip.empty")).to_have_count(1)
    picture.locator(".strip.sum i").nth(4).hover()
    told = picture.locator(".numbers").inner_text().replace("−", "-")
    numbers = [float(number) for number in re.findall(r"[+-]\d+\.\d+", told)]
    assert abs(sum(numbers[:3]) - numbers[3]) < 3e-6
    picture.get_by_role("button", name="river", exact=True).click()
    expect(picture.get_by_role("button", name="river", exact=True)).to_have_attribute("aria-pressed", "true")


def test_writing_plays_halts_and_is_stepped(page):
    open_page(page, "to_write")
    picture = page.locator(".st-key-picture .moving")
    play, count, said = (picture.locator(name) for name in (".play", ".count", ".said"))
    if "Pause" in play.inner_text():
        play.click()
    expect(play).to_have_text(re.compile("Play"))
    picture.get_by_role("slider").fill("0")
    expect(count).to_have_text(re.compile(r"^\D*0\b"))
    nothing = said.inner_text()
    play.click()
    expect(play).to_have_text(re.compile("Pause"))
    expect(said).not_to_have_text(nothing)
    play.click()
    expect(play).to_have_text(re.compile("Play"))
    assert picture.evaluate("e => e.mbPlayer.timer") is None  # it does not go on
    before = said.inner_text()
    picture.focus()
    page.keyboard.press("ArrowRight")
    expect(said).not_to_have_text(before)
    page.keyboard.press("ArrowLeft")
    expect(said).to_have_text(before)
