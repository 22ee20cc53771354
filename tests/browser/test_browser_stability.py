"""Why runs differ in a browser: the steps follow the slider, and the page fits every screen."""

from tests.browser.driver import assert_fits, expect, on_every_screen, open_page, wait_idle


def test_the_steps_follow_the_slider(page):
    open_page(page, "stability", part="The first steps")
    page.get_by_role("slider", name="Steps of the run").press("End")
    expect(page.get_by_text("and step 600 still").first).to_be_visible()


@on_every_screen
def test_it_fits(page, request):
    open_page(page, "stability")
    wait_idle(page)
    assert_fits(page, f"stability-{request.node.callspec.id}")
