"""Smaller models in a browser: a sentence is measured, a student learns beside its teacher."""

import re

from tests.browser.driver import (
    MINUTES,
    click_point,
    expect,
    open_page,
    said_above,
    train_classifier,
    type_into,
    wait_idle,
)


def test_a_readers_sentence_is_measured(page):
    open_page(page, "smaller")
    finding = said_above(page, "tradeoff")
    expect(finding).to_contain_text("the teacher needs")
    type_into(page, page.get_by_label("A sentence that all of them read", exact=True), "What a dull film.", "Enter")
    expect(finding).to_contain_text("“What a dull film.”")
    wait_idle(page)
    page.reload()
    expect(finding).to_contain_text("“What a dull film.”")


def test_a_student_is_taught_beside_one_that_learns_alone(page):
    open_page(page, "smaller", part="Teacher and student")
    page.get_by_role("button", name="Train both", exact=True).click()
    finding = said_above(page, "students")
    expect(finding).to_contain_text("student alone", timeout=MINUTES)
    expect(finding).to_contain_text("taught: soft labels", timeout=3 * MINUTES)  # its teacher learns first
    expect(page.get_by_text("its teacher").first).to_be_visible(timeout=MINUTES)


def test_heads_and_neurons_are_cut_away_and_what_is_left_learns(page):
    open_page(page, "smaller", part="Cut away", text="What a dull film.")
    train_classifier(page)
    figure = page.locator(".st-key-worth")
    expect(figure.locator("svg.main-svg").first).to_be_visible(timeout=MINUTES)  # the class's classifier learns first
    wait_idle(page, 240)
    table = page.get_by_test_id("stTable").filter(has_text="as many weights set to 0")
    expect(table.locator("tbody tr")).to_have_count(3, timeout=MINUTES)
    whole, cut, zeros = (row.split("\t")[1] for row in table.locator("tbody tr").all_inner_texts())
    assert zeros == whole != cut
    page.get_by_text("neurons", exact=True).click()
    expect(page).to_have_url(re.compile("what=neurons"))
    wait_idle(page)
    click_point(page, figure, 1)  # layer 1, head 2
    expect(page).to_have_url(re.compile(r"gone=1\.2"))
    wait_idle(page)
    page.get_by_role("button", name="Retrain what is left").click()
    expect(page.get_by_text("the whole is measured").first).to_be_visible()
    finding = said_above(page, "students")
    expect(finding).to_contain_text("50% of neurons + 1 head", timeout=MINUTES)
    expect(finding).to_contain_text("nothing cut", timeout=MINUTES)


def test_a_search_begins_and_its_network_is_asked(page):
    open_page(page, "smaller", part="Search")
    expect(page.get_by_text("Recorded on SST-2")).to_be_visible()
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_text("All of it is right on")).to_be_visible(timeout=MINUTES)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Recorded on SST-2")).to_be_visible()  # nothing was asked of the one that was stopped
