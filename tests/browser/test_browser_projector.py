"""Projector mode as a room sees it: larger type on every page, nothing cut off, and it stays on from page to page."""

import re

import pytest

from tests.browser.driver import assert_fits, expect, open_page, wait_idle
from tests.server import ROOT

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
PROJECTORS = {"720p": {"width": 1280, "height": 720}, "1080p": {"width": 1920, "height": 1080}}


def type_size(page) -> float:
    text = page.get_by_test_id("stMain").get_by_test_id("stWidgetLabel").locator("p").first
    return float(text.evaluate("e => parseFloat(getComputedStyle(e).fontSize)"))


def figure_type(page) -> float:
    ticks = page.locator(".stPlotlyChart :is(.xtick, .ytick) text")
    return float(ticks.first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)"))


def test_the_switch_enlarges_type_and_figures_and_is_kept_on_the_next_page(page):
    open_page(page, "parameters", view="Memory")
    text, figure = type_size(page), figure_type(page)
    assert "projector" not in page.url
    switch = page.get_by_role("switch", name="Projector mode").or_(page.get_by_role("checkbox", name="Projector mode"))
    switch.focus()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("projector=1"))
    wait_idle(page)
    assert type_size(page) > 1.2 * text and figure_type(page) > 1.2 * figure
    expect(page.get_by_text("In words and numbers")).to_have_count(0)

    page.get_by_role("link", name="Next: Masking").click()
    expect(page).to_have_url(re.compile("/masking.*projector=1"))
    wait_idle(page)
    enlarged = figure_type(page)
    assert type_size(page) > 1.2 * text and enlarged > 1.2 * figure

    page.get_by_test_id("stExpandSidebarButton").click()
    switch.focus()
    page.keyboard.press("Space")
    expect(page).not_to_have_url(re.compile("projector"))
    wait_idle(page)
    assert type_size(page) == text and enlarged > 1.2 * figure_type(page)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits(page, name):
    page.set_viewport_size(PROJECTORS["720p"])
    open_page(page, name, projector=1)
    for projector, size in PROJECTORS.items():
        page.set_viewport_size(size)
        wait_idle(page)
        title = page.locator(".stMainBlockContainer h1").bounding_box()
        for button in page.locator(".stAppHeader button:visible").all():
            box = button.bounding_box()
            apart = box["x"] + box["width"] <= title["x"] or box["x"] >= title["x"] + title["width"]
            assert apart or box["y"] + box["height"] <= title["y"], "the title is under a button at the top"
        assert_fits(page, f"projector-{name}-{projector}")
