"""The examination as a student meets it: a mask by mouse and keys, handing in, the sheet to keep."""

import re
from pathlib import Path

import pytest

from examination.bank import load_bank
from examination.sheet import SheetSettings, draw_sheet
from tests.browser.driver import expect, open_page, type_into, wait_idle
from tests.hostile import EVERYTHING, HOSTILE


def practise(page, kind: str, part: str):
    """Open a sheet of one part with one question, which is of this kind. → the question"""
    bank = load_bank()
    sheets = ((seed, draw_sheet(bank, SheetSettings(seed, (part,), 1, open=False))[0]) for seed in range(1, 500))
    seed, (task,) = next((seed, part.tasks) for seed, part in sheets if part.tasks[0].question.kind == kind)
    open_page(page, "examination", seed=seed, parts=part, count=1, open="false", mode="practice")
    return task


def cell(page, i: int, j: int):
    return page.locator(f'[data-cell="{i}.{j}"]')


@pytest.fixture
def console(page):
    """What the browser's console complains of; Streamlit looks for some files that are not there on every page."""
    said: list[str] = []

    def note(message) -> None:
        if message.type == "error":
            said.append(message.text)

    page.on("console", note)
    yield said
    page.remove_listener("console", note)
    assert not [text for text in said if "Failed to load resource" not in text]


def test_a_mask_is_drawn_by_keyboard_and_mouse_and_a_missing_cell_is_shown(page, console):
    task = practise(page, "mask", "transformer")
    columns = len(task.columns)
    pressed = page.locator('[data-cell][aria-pressed="true"]')
    names = page.locator(".mb-grid tbody th button").first, page.locator(".mb-grid thead th button").first
    for name, count in zip(names, (columns, columns + len(task.rows) - 1), strict=True):
        name.click()  # turns its whole row or column
        expect(pressed).to_have_count(count)
    for i, j in sorted({(i, j) for i in range(len(task.rows)) for j in range(columns) if 0 in (i, j)}):
        cell(page, i, j).click()  # at once, one after the other: none may be lost
    expect(pressed).to_have_count(0)
    cell(page, 0, 0).focus()
    for i in range(len(task.rows)):
        for j in range(columns):
            if (i, j) in task.right and (i, j) != (0, 0):
                page.keyboard.press("Space")
            if j + 1 < columns:
                page.keyboard.press("ArrowRight")
        for _step in range(columns - 1):
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowDown")
    expect(pressed).to_have_count(len(task.right) - 1)
    wait_idle(page)
    page.get_by_role("button", name="Check").click()
    expect(page.locator("[data-cell].wrong")).to_have_count(1)
    expect(cell(page, 0, 0)).to_have_attribute("aria-label", re.compile("closed, should be open"))
    cell(page, 0, 0).press("Enter")
    expect(page.locator("[data-cell].wrong")).to_have_count(0)  # a new answer is unchecked
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("2 of 2 points")).to_be_visible()


@pytest.mark.release
def test_answers_outlive_a_look_at_the_lesson(page, console):
    task = practise(page, "choose", "training")
    page.get_by_role("radio").nth(2 + task.wrong[0].answer).check(force=True)
    wait_idle(page)
    page.get_by_role("button", name="Check").click()
    page.get_by_role("link", name="Read on").click()
    expect(page).to_have_url(re.compile(task.question.lesson))
    wait_idle(page)
    page.go_back()
    expect(page.get_by_text("0 of 1 points")).to_be_visible()
    page.get_by_role("link", name="Tokenization").first.click()
    expect(page).to_have_url(re.compile("tokenization"))
    wait_idle(page)
    page.get_by_role("link", name="The examination").first.click()
    expect(page.get_by_text("0 of 1 points")).to_be_visible()


def test_hostile_answers_go_to_the_score_sheet_as_text(page, console):
    open_page(page, "examination", seed=5, parts="attention", count=1)
    answer = page.get_by_role("textbox", name="Your answer")
    type_into(page, answer, EVERYTHING, "Control+Enter")
    page.get_by_role("button", name="Hand in").click()
    type_into(page, page.get_by_label("Your name"), HOSTILE["script"])
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the score sheet").click()
    text = Path(download.value.path()).read_text("utf-8")
    assert "<img" not in text and "&lt;img" in text and "sheet 5" in text
