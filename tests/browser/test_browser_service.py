"""The service page in a browser: a request is refused, mended and answered."""

from tests.browser.driver import expect, open_page, type_into, wait_idle


def test_a_request_is_refused_mended_and_answered(page):
    open_page(page, "service", part="Ask the service")
    page.get_by_role("radio", name="a blank text").click()
    answered = page.get_by_test_id("stAlert")
    expect(answered.get_by_text("HTTP 422")).to_be_visible()
    wait_idle(page)
    field = page.get_by_role("textbox", name="Body of POST /predict")
    type_into(page, field, '{"inputs": ["a fine film"]}', key="Control+Enter")
    expect(answered.get_by_text("HTTP 200")).to_be_visible()


def test_a_sentence_is_answered_and_a_blank_one_refused(page):
    open_page(page, "service")
    picture = page.locator(".st-key-picture")
    expect(picture.get_by_text("Out: HTTP 200")).to_be_visible()
    type_into(page, page.get_by_role("textbox", name="A sentence to send"), " ")
    expect(picture.get_by_text("Out: HTTP 422")).to_be_visible()
    expect(picture.get_by_text("the model was not asked")).to_be_visible()
