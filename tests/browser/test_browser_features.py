"""Features or fine-tuning in a browser: a choice lights up its layers, on every screen."""

import re

from tests.browser.driver import expect, open_page


def test_a_choice_lights_up_what_it_reads_and_stands_in_the_link(page):
    open_page(page, "features", part="Which vectors are read")
    page.get_by_role("radio", name="embeddings", exact=True).click()
    expect(page.get_by_text("BERT is frozen. Read: one layer").first).to_be_visible()
    expect(page).to_have_url(re.compile("read-features=embeddings"))
