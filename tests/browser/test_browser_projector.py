"""Projector mode is switched on: larger type in prose and figures, and it stays on from page to page. What a page looks
like then is asked in test_form.py."""

import re

import pytest

from tests.browser.driver import expect, open_page, wait_idle


def type_size(page) -> float:
    text = page.get_by_test_id("stMain").get_by_test_id("stWidgetLabel").locator("p").first
    return float(text.evaluate("e => parseFloat(getComputedStyle(e).fontSize)"))


def figure_type(page) -> float:
    ticks = page.locator(".stPlotlyChart :is(.xtick, .ytick) text")
    return float(ticks.first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)"))


@pytest.mark.release
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
