"""The fine-tuning page in a browser: its picture walked with keys, the task by keyboard, the way back, files."""

import re

import pytest

from tests.browser.driver import expect, open_page, type_into, until, wait_idle


def test_the_picture_and_the_task_by_keyboard_and_the_way_back(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    open_page(page, "output_layer")
    figure = page.locator(".fig4")
    until(page, lambda: page.locator(".fig4 .grid > :not(.on)").count() == 0)
    figure.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".fig4 .answer.on").count() == 0 and page.locator(".fig4 .head.on").count()
    for _press in range(20):
        page.keyboard.press("ArrowLeft")
    assert page.locator(".fig4 .block.on").count() == 0 and page.locator(".fig4 .token.on").count() > 3
    page.get_by_role("radio", name="A class", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("textbox", name="Second text (B)")).to_be_visible()
    expect(page).to_have_url(re.compile("task=pair"))
    page.go_back()
    expect(page.get_by_role("textbox", name="Your text")).to_be_visible()
    wait_idle(page)
    type_into(page, page.get_by_role("textbox", name="Your text"), "A crow sat on the kettle.")
    page.get_by_role("link", name="Why runs differ").first.click()
    expect(page).to_have_url(re.compile("/stability"))
    wait_idle(page)
    page.get_by_role("link", name="One output layer").first.click()
    expect(page.get_by_role("textbox", name="Your text")).to_have_value("A crow sat on the kettle.")


@pytest.mark.release
def test_columns_and_settings_are_chosen_with_the_keyboard_and_are_there_after_coming_back_by_the_menu(page):
    open_page(page, "output_layer", data="own")
    page.get_by_role("button", name="Data and model").click()
    lines = (f"{i};x\tfine {i}\t{'up' if i % 2 else 'down'}\t{i}\n" for i in range(20))
    content = "id\tOpinion\tStars\tday\n" + "".join(lines)
    file = {"name": "mine.tsv", "mimeType": "text/plain", "buffer": content.encode()}
    page.locator('input[type="file"]').first.set_input_files(file)
    for field, column in (("text", "Opinion"), ("label", "Stars")):
        page.get_by_role("combobox", name=field, exact=True).focus()
        page.keyboard.type(column)
        page.keyboard.press("Enter")
        wait_idle(page)
    epochs = page.get_by_role("slider", name="Epochs")
    epochs.press("End")
    wait_idle(page)
    set_to = epochs.input_value()
    page.get_by_role("link", name="Why runs differ").first.click()
    wait_idle(page)
    page.get_by_role("link", name="One output layer").first.click()
    wait_idle(page)
    expect(epochs).to_have_value(set_to)
    page.get_by_role("tab", name="Data", exact=True).click()
    expect(page.get_by_text(re.compile(r"\b16\b.*\b4\b"))).to_be_visible()  # of twenty: to learn from, to measure on
