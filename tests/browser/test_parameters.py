"""The parameters page in a browser: quick presses of sliders, clicks on the map, and what stays in view."""

import re

import pytest

from minibert.count import FAMILY, parameters
from tests.browser.driver import expect, open_page, wait_idle

BASE = FAMILY["BERT-base"].config


def sums(page):
    return page.locator(".mb-sums")


def click_part(page, name: str) -> None:
    """Click the rectangle of the map with this label, where nothing that stays in view lies over it."""
    wait_idle(page)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    page.locator(".st-key-parts-map .bartext").get_by_text(re.compile(f"^{name} ")).first.click(force=True)


@pytest.mark.parametrize("answered", [False, True], ids=["before the page answers", "as it answers"])
def test_quick_presses_leave_the_slider_where_the_sums_are(page, answered):
    """answered: whether the first presses have reached the server when the last ones come."""
    open_page(page, "parameters")
    taller = BASE.change(num_hidden_layers=16)
    wider = taller.change(hidden_size=1024, num_attention_heads=16, intermediate_size=4096)  # H takes the heads along
    for slider, letter, size, config in (("L layers", "L", 16, taller), ("H hidden size", "H", 1024, wider)):
        handle = page.get_by_role("slider", name=slider)
        handle.focus()
        for number in range(4):
            page.keyboard.press("ArrowRight")
            if answered and number == 1:
                page.wait_for_function("window.__timers.size === 0")  # it has been sent
        expect(sums(page)).to_contain_text(f"{parameters(config).pretraining:,}")
        expect(page).to_have_url(re.compile(rf"[?&]{letter}={size}\b"))
        wait_idle(page)
        expect(handle).to_have_value(str(size))


def test_a_click_on_a_part_shows_its_formula_and_the_sizes_stay_in_view(page):
    open_page(page, "parameters", L=12)
    click_part(page, "query")
    formula = page.locator(".mb-formula")
    expect(formula).to_contain_text("12 × (768² + 768)")
    expect(formula).to_contain_text("7,087,104")
    click_part(page, "token")
    expect(formula).to_contain_text("30,522·768")
    click_part(page, "token")  # a second click takes plotly's selection back, not the part
    expect(formula).to_contain_text("30,522·768")
    expect(page).to_have_url(re.compile("part=embeddings.token"))
    wait_idle(page)
    page.locator(".st-key-part-detail").scroll_into_view_if_needed()
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    expect(page.locator(".st-key-sizes").get_by_text("L layers")).to_be_in_viewport()
    expect(sums(page)).to_be_in_viewport()
