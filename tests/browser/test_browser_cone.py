"""The cone in a browser: a reader's two sentences and their cosines, a flow that is seen to learn."""

import re

from tests.browser.driver import MINUTES, expect, open_page, said_above, type_into, wait_idle


def test_a_readers_sentences_are_drawn_and_stay_in_the_link(page):
    open_page(page, "cone", model="mini-en")
    finding = said_above(page, "clouds")
    expect(finding).to_contain_text("Two at random")
    before = finding.inner_text()
    type_into(page, page.get_by_label("And another", exact=True), "My suitcase has disappeared.", "Enter")
    expect(finding).to_contain_text("Yours: 1.00")
    assert finding.inner_text() != before
    wait_idle(page)
    page.reload()
    expect(finding).to_contain_text("Yours: 1.00")


def test_a_flow_draws_its_likelihood_while_it_learns(page):
    open_page(page, "cone", part="Flow", model="mini-en")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(said_above(page, "likelihood")).to_contain_text("Log-likelihood", timeout=MINUTES)
    expect(said_above(page, "flow-clouds")).to_have_text(re.compile("first, .* now"), timeout=MINUTES)
