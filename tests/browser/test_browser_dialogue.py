"""Dialogue in a browser: it answers while one types."""

from tests.browser.driver import expect, open_page, said_above


def test_it_answers_as_one_types(page):
    open_page(page, "dialogue")
    finding = said_above(page, "intents")
    expect(finding).to_contain_text("set_alarm")
    said = page.get_by_label("Say it to the helper, in English: it answers as you type", exact=True)
    said.fill("will it rain in Oslo tomorrow")  # and no Enter
    expect(finding).to_contain_text("get_weather")
    expect(page.locator("mark", has_text="tomorrow")).to_be_visible()
