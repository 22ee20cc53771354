"""The options of fine-tuning in a browser: each opens from the link and fits."""

import re

import pytest

from tests.browser.driver import assert_fits, expect, on_every_screen, open_page, wait_idle


def test_an_option_is_chosen_and_stands_in_the_link(page):
    open_page(page, "training_options")
    page.get_by_role("radio", name="augmentation").click()
    expect(page.get_by_role("heading", name="Augmentation")).to_be_visible()
    expect(page).to_have_url(re.compile("option=augmentation"))
    wait_idle(page)


@pytest.mark.parametrize("option", ["dropout", "averaging"])
def test_it_fits(page, option):
    open_page(page, "training_options", option=option)
    for screen in on_every_screen(page):
        assert_fits(page, f"training-options-{option}-{screen}")
