"""Dialogue in a browser: it answers while one types, and a run answers the reader's sentence."""

from tests.browser.driver import MINUTES, expect, open_page, said_above, wait_idle


def test_it_answers_as_one_types(page):
    open_page(page, "dialogue")
    finding = said_above(page, "intents")
    expect(finding).to_contain_text("set_alarm")
    said = page.get_by_label("Say it to the helper, in English: it answers as you type", exact=True)
    said.fill("will it rain in Oslo tomorrow")  # and no Enter
    expect(finding).to_contain_text("get_weather")
    expect(page.locator("mark", has_text="tomorrow")).to_be_visible()
    wait_idle(page)
    page.reload()
    expect(finding).to_contain_text("get_weather")


def test_a_run_answers_the_readers_sentence(page):
    open_page(page, "dialogue", part="Train", who="sparse", data="intents")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(said_above(page, "over-seconds-entity_f1")).to_contain_text("DIET", timeout=MINUTES)
    expect(page.get_by_text("now:").first).to_be_visible(timeout=MINUTES)
