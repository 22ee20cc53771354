"""The service page in a browser: a request is refused, mended and answered."""

from tests.browser.driver import assert_fits, expect, on_every_screen, open_page, type_into, wait_idle


def test_a_request_is_refused_mended_and_answered(page):
    open_page(page, "service")
    page.get_by_role("radio", name="a blank text").click()
    expect(page.get_by_text("HTTP 422")).to_be_visible()
    wait_idle(page)
    field = page.get_by_role("textbox", name="Body of POST /predict")
    type_into(page, field, '{"inputs": ["a fine film"]}', key="Control+Enter")
    expect(page.get_by_text("HTTP 200")).to_be_visible()


@on_every_screen
def test_it_fits(page, request):
    open_page(page, "service", step=4)
    wait_idle(page)
    assert_fits(page, f"service-{request.node.callspec.id}")
