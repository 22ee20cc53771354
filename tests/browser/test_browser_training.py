"""Models that learn while a browser looks on, one test a mechanism; that every button begins its run is asked without
one in tests/pages/test_targets.py."""

import re
from zipfile import ZipFile

import pytest

from tests.browser import driver
from tests.browser.driver import MINUTES, assert_fits, click_point, expect, open_page, said_above, until, wait_idle

pytestmark = [pytest.mark.release, pytest.mark.trains]


def set_to(page, slider: str, key: str) -> None:
    page.get_by_role("slider", name=slider).press(key)
    wait_idle(page)


def stops(page):
    """The buttons of runs, not the one in Streamlit's header."""
    return page.locator(".st-key-run-states").get_by_role("button", name="Stop")


def fine_tune(page, key: str, **query) -> None:
    open_page(page, "output_layer", **query)
    set_to(page, "Epochs", key)
    page.get_by_role("button", name=re.compile("Train 4 models")).click()


def test_fine_tuned_models_draw_curves_answer_are_found_again_and_taken_away(page):
    fine_tune(page, "Home", data="reviews-zh")
    expect(page.locator('[class*="st-key-curves"] .js-line').first).to_be_attached(timeout=MINUTES)
    expect(stops(page)).to_have_count(0, timeout=MINUTES)  # all have ended
    wait_idle(page)  # the page comes once more then
    driver.type_into(page, page.get_by_role("textbox", name="Your text"), "这家店的包子又冷又硬。")
    bars = page.locator('[class*="st-key-answers"] .barlayer .point')  # asked after training: a bar a run
    expect(bars).to_have_count(4, timeout=MINUTES)
    assert_fits(page, "output-layer-trained")
    page.reload()
    expect(bars).to_have_count(4, timeout=MINUTES)
    wait_idle(page)
    page.get_by_role("tab", name="Right and wrong").click()
    page.locator("summary", has_text="From file to service").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("^Download ")).first.click()
    with ZipFile(download.value.path()) as model:
        assert {"config.json", "model.safetensors", "vocab.txt"} <= set(model.namelist())


def test_a_model_is_pre_trained_and_draws_its_loss(page):
    open_page(page, "experiments", text="toy", experiment="masking", part="Run one now")
    page.get_by_role("button", name="Pre-train it").click()
    expect(page.locator('[class*="st-key-loss"] .js-line').first).to_be_attached(timeout=MINUTES)


def test_two_are_trained_side_by_side_and_found_again(page):
    open_page(page, "electra", part="Train both")
    set_to(page, "Steps", "Home")
    page.get_by_role("button", name="Train both").click()
    legend = page.locator(".st-key-wide-both .legendtext")
    expect(legend).to_have_count(2, timeout=MINUTES)
    page.reload()
    expect(legend).to_have_count(2, timeout=MINUTES)
    expect(page.locator(".st-key-wide-both-answers .xtick, .st-key-wide-both-answers .ytick").first).to_be_visible()


def test_heads_and_neurons_are_cut_away_and_what_is_left_learns(page):
    """The class's classifier learns first; it is explained on another page, too."""
    open_page(page, "smaller", part="Cut away", text="What a dull film.")
    button = page.get_by_role("button", name="Train it", exact=True)
    if button.count():  # no test on this server before needed it
        button.click()
    figure = page.locator(".st-key-worth")
    expect(figure.locator("svg.main-svg").first).to_be_visible(timeout=MINUTES)
    wait_idle(page, MINUTES / 1_000)
    page.get_by_text("neurons", exact=True).click()
    expect(page).to_have_url(re.compile("what=neurons"))
    wait_idle(page)
    click_point(page, figure, 1)  # layer 1, head 2
    expect(page).to_have_url(re.compile(r"gone=1\.2"))
    wait_idle(page)
    page.get_by_role("button", name="Retrain what is left").click()
    expect(said_above(page, "students")).to_contain_text("50%", timeout=MINUTES)
    open_page(page, "attribution", text="I can't say I enjoyed this dull, endless film.")
    expect(page.locator(".mb-finding").first).to_be_visible(timeout=MINUTES)
    assert_fits(page, "attribution-trained")


def test_stop_takes_effect_and_the_page_goes_on(page):
    fine_tune(page, "End")
    expect(stops(page).first).to_be_visible(timeout=MINUTES)
    while left := stops(page).count():  # or fewer, where one has come to its end meanwhile
        stops(page).last.click(timeout=MINUTES)
        until(page, lambda left=left: stops(page).count() < left)
    expect(page.get_by_role("button", name=re.compile("Train 4 models"))).to_be_enabled()
