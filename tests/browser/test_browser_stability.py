"""Why runs differ in a browser: the steps follow the slider, and the page fits every screen."""

from tests.browser.driver import expect, open_page


def test_the_steps_follow_the_slider(page):
    open_page(page, "stability", part="The first steps")
    page.get_by_role("slider", name="Steps of the run").press("End")
    expect(page.get_by_text("and step 600 still").first).to_be_visible()
