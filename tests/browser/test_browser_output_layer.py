"""The fine-tuning page in a browser: real runs, watched, stopped, left and found again; files; keys; every screen."""

import re

import pytest

from tests.browser.driver import MINUTES, assert_fits, expect, on_every_screen, open_page, type_into, until, wait_idle


def start(page, epochs: str, **query) -> None:
    open_page(page, "output_layer", **query)
    slider = page.get_by_role("slider", name="Epochs")
    slider.press("Home" if epochs == "few" else "End")
    wait_idle(page)
    page.get_by_role("button", name=re.compile("Train 4 models")).click()


def test_runs_draw_curves_answer_and_are_found_again(page):
    start(page, "few", data="reviews-zh")
    expect(page.locator('[class*="st-key-curves"] .js-line').first).to_be_attached(timeout=MINUTES)
    expect(page.locator(".st-key-comparison")).to_be_visible(timeout=MINUTES)
    stop = page.locator(".st-key-run-states").get_by_role("button", name="Stop")
    expect(stop).to_have_count(0, timeout=MINUTES)  # all have ended
    wait_idle(page)  # the page comes once more then
    text = "这家店的包子又冷又硬。"
    type_into(page, page.get_by_role("textbox", name="Your text"), text)
    bars = page.locator('[class*="st-key-answers"] .barlayer .point')  # asked after training: a bar a run
    expect(bars).to_have_count(4, timeout=MINUTES)
    page.get_by_role("tab", name="Right and wrong").click()
    page.locator("summary", has_text="From file to service").click()
    expect(page.get_by_text("python -m minibert serve --model my-model")).to_be_visible()
    expect(page.get_by_text(re.compile(text)).last).to_be_visible()  # in the command that asks the service
    page.reload()
    expect(page.get_by_role("heading", name="Read the mistakes")).to_be_visible(timeout=MINUTES)


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_a_tagger_colours_the_names_in_ones_own_text(page):
    start(page, "few", task="tagging", data="entities-zh")
    expect(page.get_by_role("heading", name="What they answer")).to_be_visible(timeout=MINUTES)
    expect(page.locator(".st-key-comparison")).to_be_visible(timeout=MINUTES)
    wait_idle(page)
    assert_fits(page, "output-layer-tagging-dark")
    page.get_by_role("tab", name="Right and wrong").click()
    wait_idle(page)
    assert_fits(page, "output-layer-mistakes-dark")


def test_stop_takes_effect_and_the_page_goes_on(page):
    start(page, "many")
    stop = page.locator(".st-key-run-states").get_by_role("button", name="Stop")  # not the one in Streamlit's header
    stop.first.click(timeout=MINUTES)
    expect(page.get_by_text(re.compile("seed 0: stopped")).first).to_be_visible(timeout=MINUTES)
    for left in (2, 1, 0):  # or fewer, where one has come to its end meanwhile
        if stop.count() > left:
            stop.last.click(timeout=MINUTES)
            until(page, lambda left=left: stop.count() <= left)
    expect(stop).to_have_count(0, timeout=MINUTES)
    expect(page.get_by_role("button", name=re.compile("Train 4 models"))).to_be_enabled()


def test_the_task_is_chosen_with_the_keyboard_and_stands_in_the_link(page):
    open_page(page, "output_layer")
    page.get_by_role("radio", name="A class", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("textbox", name="Second text (B)")).to_be_visible()
    expect(page).to_have_url(re.compile("task=pair"))
    page.go_back()
    expect(page.get_by_role("textbox", name="Your text")).to_be_visible()


def drawer(page) -> None:
    page.get_by_role("button", name="Data and model").click()


def test_the_picture_is_in_the_first_screen_and_is_walked_with_the_keyboard(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    open_page(page, "output_layer", task="tagging")
    box = page.locator(".st-key-picture").bounding_box()
    assert box["y"] <= 400 and box["y"] + 330 <= 800
    figure = page.locator(".fig4")
    until(page, lambda: page.locator(".fig4 .grid > :not(.on)").count() == 0)
    figure.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".fig4 .answer.on").count() == 0 and page.locator(".fig4 .head.on").count() > 1
    for _press in range(20):
        page.keyboard.press("ArrowLeft")
    assert page.locator(".fig4 .block.on").count() == 0 and page.locator(".fig4 .token.on").count() > 3
    assert "until it is trained" in figure.get_attribute("aria-label")


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_who_wants_no_motion_sees_the_whole_picture_at_once(page):
    open_page(page, "output_layer")
    assert page.locator(".fig4 .grid > :not(.on)").count() == 0


def test_the_text_is_there_when_the_reader_comes_back_by_the_menu(page):
    open_page(page, "output_layer")
    type_into(page, page.get_by_role("textbox", name="Your text"), "A crow sat on the kettle.")
    wait_idle(page)
    page.get_by_role("link", name="Why runs differ").first.click()
    wait_idle(page)
    page.get_by_role("link", name="One output layer").first.click()
    expect(page.get_by_role("textbox", name="Your text")).to_have_value("A crow sat on the kettle.")


def test_task_settings_and_file_are_there_when_the_reader_comes_back_by_the_menu(page):
    open_page(page, "output_layer", task="tagging")
    drawer(page)
    page.get_by_role("radio", name="A file of your own").click()
    names = b"Ada B-PER\nsleeps O\n\nBob B-PER\nreads O\n\n" * 10
    page.locator('input[type="file"]').first.set_input_files(
        {"name": "names.txt", "mimeType": "text/plain", "buffer": names}
    )
    expect(page).to_have_url(re.compile("data=own"))
    wait_idle(page)
    epochs = page.get_by_role("slider", name="Epochs")
    epochs.press("End")
    wait_idle(page)
    set_to = epochs.input_value()
    page.get_by_role("link", name="Why runs differ").first.click()
    wait_idle(page)
    page.get_by_role("link", name="One output layer").first.click()
    wait_idle(page)
    expect(page.get_by_role("radio", name="A tag a word")).to_be_checked()
    expect(epochs).to_have_value(set_to)
    page.get_by_role("tab", name="Data", exact=True).click()
    expect(page.get_by_text("16 examples to learn from, 4 to measure on")).to_be_visible()


def test_a_wrong_file_is_named_and_a_right_one_turns_to_its_task(page):
    open_page(page, "output_layer", data="own")
    drawer(page)
    field = page.locator('input[type="file"]').first
    field.set_input_files({"name": "mine.tsv", "mimeType": "text/plain", "buffer": b"sentence\nfine\ndull\n"})
    expect(page.get_by_text(re.compile("the header has no label column"))).to_be_visible()
    page.reload()
    wait_idle(page)
    drawer(page)
    names = b"Ada B-PER\nsleeps O\n\nBob B-PER\nreads O\n\n" * 10
    field.set_input_files({"name": "names.txt", "mimeType": "text/plain", "buffer": names})
    expect(page).to_have_url(re.compile("task=tagging"))
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Data", exact=True).click()
    expect(page.get_by_text("16 examples to learn from, 4 to measure on")).to_be_visible()


def test_columns_of_other_names_are_chosen_with_the_keyboard(page):
    open_page(page, "output_layer", data="own")
    drawer(page)
    lines = (f"{i};x\tfine {i}\t{'up' if i % 2 else 'down'}\t{i}\n" for i in range(20))
    rows = "id\tOpinion\tStars\tday\n" + "".join(lines)
    file = {"name": "mine.tsv", "mimeType": "text/plain", "buffer": rows.encode()}
    page.locator('input[type="file"]').first.set_input_files(file)
    expect(page.get_by_text("Choose where each part of an example stands in the file.")).to_be_visible()
    for field, column in (("text", "Opinion"), ("label", "Stars")):
        page.get_by_role("combobox", name=field, exact=True).focus()
        page.keyboard.type(column)
        page.keyboard.press("Enter")
        wait_idle(page)
    page.get_by_role("tab", name="Data", exact=True).click()
    expect(page.get_by_text("16 examples to learn from, 4 to measure on")).to_be_visible()


def test_a_file_of_200_mb_is_refused(page, tmp_path):
    big = tmp_path / "big.tsv"
    with open(big, "wb") as file:
        file.truncate(200 * 2**20)
    open_page(page, "output_layer", data="own")
    drawer(page)
    page.locator('input[type="file"]').first.set_input_files(str(big))
    expect(page.get_by_text(re.compile(r"must be 100\.?0?\s?MB or smaller"))).to_be_visible(timeout=MINUTES)


@pytest.mark.parametrize("task", ["span", "choice"])
def test_it_fits(page, task):
    open_page(page, "output_layer", task=task)
    for screen in on_every_screen(page):
        assert_fits(page, f"output-layer-{task}-{screen}")
