"""The examination as a student meets it: a mask by mouse and keys, an order, handing in, the sheet to keep."""

import re

import pytest

from examination.bank import load_bank
from examination.sheet import SheetSettings, draw_sheet
from tests.browser.driver import (
    assert_fits,
    assert_no_markup,
    expect,
    on_every_screen,
    open_page,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE

BANK = load_bank()


def sheet_with(kind: str, part: str):
    """(seed, task) of a sheet of one part with such a question, one question long."""
    for seed in range(1, 500):
        (section,) = draw_sheet(BANK, SheetSettings(seed, (part,), 1, open=False))
        if section.tasks[0].question.kind == kind:
            return seed, section.tasks[0]
    raise AssertionError(f"no sheet has {kind}")


def open_one(page, kind: str, part: str, **query):
    seed, task = sheet_with(kind, part)
    open_page(page, "examination", **({"seed": seed, "parts": part, "count": 1, "open": "false"} | query))
    return task


def cell(page, i: int, j: int):
    return page.locator(f'[data-cell="{i}.{j}"]')


@pytest.fixture
def console(page):
    """What the browser's console complains of; Streamlit looks for some files that are not there on every page."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    yield said
    assert not [text for text in said if "Failed to load resource" not in text]


def test_a_mask_is_drawn_by_mouse(page, console):
    task = open_one(page, "mask", "transformer")
    for i, j in sorted(task.right):
        cell(page, i, j).click()  # at once, one after the other: none may be lost
    expect(page.locator('[data-cell][aria-pressed="true"]')).to_have_count(len(task.right))
    wait_idle(page)
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_text("2 of 2 points")).to_be_visible()
    expect(page.locator("[data-cell].wrong")).to_have_count(0)
    expect(cell(page, 0, 0)).to_be_disabled()


def test_a_mask_is_drawn_by_keyboard_and_a_missing_cell_is_shown(page, console):
    task = open_one(page, "mask", "transformer", mode="practice")
    columns = len(task.columns)
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
    expect(page.locator('[data-cell][aria-pressed="true"]')).to_have_count(len(task.right) - 1)
    wait_idle(page)
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("Closed, but should be open")).to_be_visible()
    expect(page.locator("[data-cell].wrong")).to_have_count(1)
    expect(cell(page, 0, 0)).to_have_attribute("aria-label", re.compile("closed, should be open"))
    cell(page, 0, 0).press("Enter")
    expect(page.locator("[data-cell].wrong")).to_have_count(0)  # a new answer is unchecked
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("2 of 2 points")).to_be_visible()


def test_a_name_turns_its_whole_row_or_column(page, console):
    task = open_one(page, "mask", "transformer")
    page.locator(".mb-grid tbody th button").first.click()
    expect(page.locator('[data-cell][aria-pressed="true"]')).to_have_count(len(task.columns))
    page.locator(".mb-grid thead th button").first.click()
    expect(page.locator('[data-cell][aria-pressed="true"]')).to_have_count(len(task.columns) + len(task.rows) - 1)


def test_steps_are_moved_into_their_order(page, console):
    task = open_one(page, "order", "transformer", mode="practice")
    order = list(task.start)
    for place, step in enumerate(task.right):
        while order.index(step) > place:
            at = order.index(step)
            page.get_by_role("button", name="↑").nth(at).click()
            order[at - 1 : at + 1] = order[at], order[at - 1]
            shown = page.locator('[class*="st-key-order-"] .stMarkdown').nth(at - 1)
            expect(shown).to_contain_text(task.steps[step][:20])
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("2 of 2 points")).to_be_visible()


def test_answers_outlive_a_look_at_the_lesson(page, console):
    task = open_one(page, "choose", "training", mode="practice")
    page.get_by_role("radio").nth(2 + task.wrong[0].answer).check(force=True)
    wait_idle(page)
    page.get_by_role("button", name="Check").click()
    link = page.get_by_role("link", name="Read on")
    expect(link).to_be_visible()
    link.click()
    expect(page).to_have_url(re.compile(task.question.lesson))
    wait_idle(page)
    page.go_back()
    expect(page.get_by_text("0 of 1 points")).to_be_visible()
    page.get_by_role("link", name="Tokenization").first.click()
    expect(page).to_have_url(re.compile("tokenization"))
    wait_idle(page)
    page.get_by_role("link", name="The examination").first.click()
    expect(page.get_by_text("0 of 1 points")).to_be_visible()
    expect(page.get_by_role("link", name="Link to this sheet")).to_have_attribute("href", re.compile("parts=training"))


def test_hostile_answers_go_to_the_score_sheet_as_text(page, console, tmp_path):
    open_page(page, "examination", seed=5, parts="attention", count=1)
    answer = page.get_by_role("textbox", name="Your answer")
    type_into(page, answer, HOSTILE["script"] + HOSTILE["markup"], "Control+Enter")
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_text("A model answer")).to_be_visible()
    type_into(page, page.get_by_label("Your name"), HOSTILE["script"])
    assert_no_markup(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the score sheet").click()
    path = tmp_path / "sheet.html"
    download.value.save_as(path)
    text = path.read_text("utf-8")
    assert "<img" not in text and "&lt;img" in text and "sheet 5" in text


def test_it_fits_every_screen(page):
    open_page(page, "examination", seed=7, count=2)
    for screen in on_every_screen(page):
        assert_fits(page, f"examination-{screen}")
