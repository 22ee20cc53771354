"""The fine-tuning page in a browser: real runs, watched, stopped, left and found again; files; keys; every screen."""

import re

import pytest

from tests.browser.driver import MINUTES, assert_fits, expect, on_every_screen, open_page, type_into, wait_idle


def start(page, epochs: str, **query) -> None:
    open_page(page, "output_layer", **query)
    slider = page.get_by_role("slider", name="Epochs")
    slider.press("Home" if epochs == "few" else "End")
    wait_idle(page)
    page.get_by_role("button", name=re.compile("Train 2 models")).click()


@pytest.mark.slow
def test_runs_draw_curves_answer_and_are_found_again(page):
    start(page, "few", data="reviews-zh")
    expect(page.locator('[class*="st-key-curves"] .js-line').first).to_be_attached(timeout=MINUTES)
    expect(page.get_by_role("heading", name="Right and wrong")).to_be_visible(timeout=MINUTES)
    wait_idle(page)  # the page comes once more when the last run has ended
    text = "这家店的包子又冷又硬。"
    type_into(page, page.get_by_role("textbox", name="Your text"), text)
    expect(page.locator('[class*="st-key-answers"] .js-line').first).to_be_attached(timeout=MINUTES)
    expect(page.get_by_text("python -m minibert serve --model my-model")).to_be_visible()
    expect(page.get_by_text(re.compile(text)).last).to_be_visible()  # in the command that asks the service
    page.reload()
    expect(page.get_by_role("heading", name="Right and wrong")).to_be_visible(timeout=MINUTES)


@pytest.mark.slow
@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_a_tagger_colours_the_names_in_ones_own_text(page):
    start(page, "few", task="tagging", data="entities-zh")
    expect(page.get_by_role("heading", name="What they answer")).to_be_visible(timeout=MINUTES)
    expect(page.get_by_role("heading", name="Right and wrong")).to_be_visible(timeout=MINUTES)
    wait_idle(page)
    assert_fits(page, "output-layer-tagging-dark")


@pytest.mark.slow
def test_stop_takes_effect_and_the_page_goes_on(page):
    start(page, "many")
    stop = page.locator(".st-key-run-states").get_by_role("button", name="Stop")  # not the one in Streamlit's header
    stop.first.click(timeout=MINUTES)
    expect(page.get_by_text(re.compile("seed 0: stopped")).first).to_be_visible(timeout=MINUTES)
    stop.first.click(timeout=MINUTES)
    expect(stop).to_have_count(0, timeout=MINUTES)
    expect(page.get_by_role("button", name=re.compile("Train 2 models"))).to_be_enabled()


def test_the_task_is_chosen_with_the_keyboard_and_stands_in_the_link(page):
    open_page(page, "output_layer")
    page.get_by_role("radio", name="A class", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("heading", name="A class for two texts")).to_be_visible()
    expect(page).to_have_url(re.compile("task=pair"))
    page.go_back()
    expect(page.get_by_role("heading", name="A class for a text")).to_be_visible()


def test_a_wrong_file_is_named_and_a_right_one_turns_to_its_task(page):
    open_page(page, "output_layer", data="own")
    field = page.locator('input[type="file"]').first
    field.set_input_files({"name": "mine.tsv", "mimeType": "text/plain", "buffer": b"sentence\nfine\ndull\n"})
    expect(page.get_by_text(re.compile("the header has no label column"))).to_be_visible()
    page.reload()
    wait_idle(page)
    names = b"Ada B-PER\nsleeps O\n\nBob B-PER\nreads O\n\n" * 10
    field.set_input_files({"name": "names.txt", "mimeType": "text/plain", "buffer": names})
    expect(page.get_by_role("heading", name="A tag for every word")).to_be_visible()
    expect(page.get_by_text("16 examples to learn from, 4 to measure on")).to_be_visible()


def test_columns_of_other_names_are_chosen_with_the_keyboard(page):
    open_page(page, "output_layer", data="own")
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
    expect(page.get_by_text("16 examples to learn from, 4 to measure on")).to_be_visible()


def test_a_file_of_200_mb_is_refused(page, tmp_path):
    big = tmp_path / "big.tsv"
    with open(big, "wb") as file:
        file.truncate(200 * 2**20)
    open_page(page, "output_layer", data="own")
    page.locator('input[type="file"]').first.set_input_files(str(big))
    expect(page.get_by_text(re.compile(r"must be 100\.?0?\s?MB or smaller"))).to_be_visible(timeout=MINUTES)


@on_every_screen
def test_it_fits(page, request):
    for task in ("span", "choice"):
        open_page(page, "output_layer", task=task)
        assert_fits(page, f"output-layer-{task}-{request.node.callspec.id}")
