"""The input page in a browser: its stepper, its link, hostile text."""

import re

import pytest

from tests.browser.driver import assert_fits, assert_no_markup, expect, on_every_screen, open_page, type_into
from tests.hostile import HOSTILE, IN_A_BROWSER


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_three_strips_come_to_their_sum(page):
    open_page(page, "input", a="The river rose.", model="mini-en")
    picture = page.locator(".st-key-picture")
    expect(picture.locator(".count")).to_have_text("step 4 of 4")  # nothing moves: it stands at its end
    expect(picture.locator(".strip.empty")).to_have_count(0)
    picture.get_by_role("slider").press("Home")
    expect(picture.locator(".strip.empty")).to_have_count(2)  # the sum, and what LayerNorm makes of it
    picture.locator(".moving").focus()
    for step, said in enumerate(("token + …", "token + segment + …", "token + segment + position = sum"), 1):
        page.keyboard.press("ArrowRight")
        expect(picture.locator(".said")).to_have_text(said)
        expect(picture.locator(".count")).to_have_text(f"step {step} of 4")
    expect(picture.locator(".strip.empty")).to_have_count(1)
    picture.locator(".strip.sum i").nth(4).hover()
    told = picture.locator(".numbers").inner_text().replace("−", "-")
    numbers = [float(number) for number in re.findall(r"[+-]\d+\.\d+", told)]
    assert told.startswith("Dimension 5:") and abs(sum(numbers[:3]) - numbers[3]) < 3e-6
    picture.get_by_role("button", name="river", exact=True).click()
    expect(picture.get_by_role("button", name="river", exact=True)).to_have_attribute("aria-pressed", "true")


def test_the_row_grows_step_by_step(page):
    open_page(page, "input", part="The row")
    expect(page.locator(".mb-rows").first).not_to_contain_text("[CLS]")
    for name in ("frame", "ids", "segments", "padding"):
        page.get_by_role("button", name=re.compile(f"\\d. {name}")).click()
        expect(page.get_by_role("button", name=re.compile(f"\\d. {name}"))).to_have_attribute("kind", "primary")
    expect(page.locator(".mb-rows").first).to_contain_text("attention mask")
    expect(page).to_have_url(re.compile(r"[?&]step=5\b"))


def test_a_link_to_a_lesson_opens_it_with_menu_and_state(page):
    open_page(page, "input", step=3, a="Only a test.", pair="false")
    expect(page.get_by_label("First sentence")).to_have_value("Only a test.")
    expect(page.get_by_role("link", name="Tokenization").first).to_be_visible()
    expect(page.locator(".mb-rows").first).to_contain_text("test")


def test_any_text_is_text(page):
    open_page(page, "input", step=5)
    for name in IN_A_BROWSER:
        type_into(page, page.get_by_label("First sentence"), HOSTILE[name])
        assert_no_markup(page)
    type_into(page, page.get_by_label("First sentence"), "It barked.")
    expect(page.locator(".mb-rows").first).to_contain_text("bark##ed")


def test_it_fits(page):
    open_page(page, "input", step=5)
    rows = page.locator(".mb-rows").evaluate_all("rows => rows.map(e => [e.scrollWidth, e.clientWidth])")
    assert rows and all(inner <= outer + 2 for inner, outer in rows)  # a phone scrolls them inside their own box
    for screen in on_every_screen(page):
        assert_fits(page, f"input-{screen}-row")
