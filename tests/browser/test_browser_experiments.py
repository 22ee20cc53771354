"""The page of the paper's experiments in a browser: an experiment chosen, and a run of one's own watched."""

import re

from tests.browser.driver import MINUTES, expect, open_page, said_above, wait_idle


def chosen(page, name: str):
    return page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name)).first


def titled(page, key: str, text: str):
    """The figure's title with this text: while a page is drawn anew, the figure before stands beside it."""
    return said_above(page, key).filter(has_text=text)


def test_an_experiment_is_chosen_and_stands_in_the_link(page):
    open_page(page, "experiments")
    chosen(page, "Model size").click()
    expect(page).to_have_url(re.compile("experiment=size"))
    expect(page).to_have_url(re.compile("text=toy"))
    expect(page.locator(".st-key-scores .ytick").first).to_contain_text("2/128/2")
    wait_idle(page)
    chosen(page, "on real text").click()
    expect(titled(page, "scores", "No verdict")).to_have_count(1)  # at perplexities of 400
    wait_idle(page)
    page.reload()
    expect(titled(page, "scores", "No verdict")).to_have_count(1)


def test_a_link_of_before_shows_what_it_showed(page):
    open_page(page, "experiments", experiment="objectives")
    expect(page.locator(".st-key-scores .xtitle")).to_contain_text("SST-2 accuracy")
    expect(page.locator(".st-key-scores .ytick")).to_have_count(4)


def test_words_are_shown_kind_by_kind(page):
    open_page(page, "experiments", text="toy", experiment="objectives")
    page.get_by_role("tab", name="Word by word").click()
    expect(titled(page, "kinds", "Widest apart in")).to_have_count(1)
    expect(page.locator(".st-key-kinds .ytick").filter(has_text="a or an")).to_be_visible()


def test_a_run_draws_its_curve_and_can_be_stopped(page):
    open_page(page, "experiments", text="toy", experiment="masking", part="Run one now")
    page.get_by_role("button", name="Pre-train it").click()
    expect(page.locator('[class*="st-key-loss"] .js-line').first).to_be_attached(timeout=MINUTES)
    page.get_by_role("button", name="Stop").first.click(timeout=MINUTES)
    expect(page.get_by_text(re.compile("stopped|finished")).first).to_be_visible(timeout=MINUTES)
