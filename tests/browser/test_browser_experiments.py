"""The page of the paper's experiments in a browser: an experiment chosen, and a small run watched."""

import re

import pytest

from tests.browser.driver import MINUTES, expect, open_page, wait_idle


def test_an_experiment_is_chosen_and_stands_in_the_link(page):
    open_page(page, "experiments")
    page.get_by_role("radio", name="Model size").or_(page.get_by_role("button", name="Model size")).first.click()
    expect(page.get_by_role("heading", name="Model size")).to_be_visible()
    expect(page).to_have_url(re.compile("experiment=size"))
    wait_idle(page)


@pytest.mark.slow
def test_a_small_run_draws_its_curve_and_can_be_stopped(page):
    open_page(page, "experiments", experiment="masking")
    page.get_by_role("button", name="Pre-train it").click()
    expect(page.locator('[class*="st-key-loss"] .js-line').first).to_be_attached(timeout=MINUTES)
    page.get_by_role("button", name="Stop").first.click(timeout=MINUTES)
    expect(page.get_by_text(re.compile("stopped|finished")).first).to_be_visible(timeout=MINUTES)
