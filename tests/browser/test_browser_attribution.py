"""Why this answer in a browser: a model trained on the spot, its words explained, and any text safe."""

import re

from tests.browser.driver import (
    MINUTES,
    assert_fits,
    assert_no_markup,
    expect,
    on_every_screen,
    open_page,
    train_classifier,
    type_into,
    wait_idle,
)


def trained(page, **query) -> None:
    """The page with a model of the class, trained if it is not yet."""
    open_page(page, "attribution", **query)
    train_classifier(page)
    expect(page.get_by_text(re.compile("The model says"))).to_be_visible(timeout=MINUTES)
    wait_idle(page)


def test_nobody_waits_for_a_classifier(page):
    open_page(page, "attribution", model="blank-mini-en", blank="The girl said that [MASK] was tired.")
    expect(page.get_by_text(re.compile("in the blank with a probability"))).to_be_visible()
    expect(page.locator(".st-key-grid .js-plotly-plot")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    wait_idle(page)
    inks = page.locator(".st-key-grid .annotation-text").evaluate_all(
        "all => [...new Set(all.map(text => getComputedStyle(text).fill))]"
    )
    assert set(inks) <= {"rgb(17, 17, 17)", "rgb(255, 255, 255)"} and "rgb(17, 17, 17)" in inks  # as the cells need


def test_a_model_is_trained_once_and_explains_a_text(page):
    trained(page)
    expect(page.get_by_text(re.compile(r"Right on .* held-out examples"))).to_be_visible()
    type_into(page, page.get_by_role("textbox", name="Your own text"), "a dull film")
    words = page.get_by_role("list", name="The text, with what each word speaks for").get_by_role("listitem")
    expect(words).to_have_count(3)
    before = words.nth(1).inner_text()
    page.get_by_role("radio", name="Leave one out").click()
    expect(words.nth(1)).not_to_have_text(before)
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("radio", name="nothing: cut out").first.click()
    wait_idle(page)
    assert "instead=cut" in page.url and "method=leave_one_out" in page.url


def test_what_is_typed_is_no_markup(page):
    trained(page)
    type_into(page, page.get_by_role("textbox", name="Your own text"), "</script><img src=x onerror=alert(1)> <b>b</b>")
    expect(page.get_by_text(re.compile("The model says"))).to_be_visible()
    assert_no_markup(page)


def test_it_fits(page):
    trained(page, text="I can't say I enjoyed this dull, endless film.")
    for screen in on_every_screen(page):
        assert_fits(page, f"attribution-{screen}")
