"""Smaller models in a browser: a sentence is measured, a student learns beside its teacher."""

import pytest

from tests.browser.driver import MINUTES, expect, open_page, type_into, wait_idle


def test_a_readers_sentence_is_measured(page):
    open_page(page, "smaller")
    finding = page.locator(".mb-finding[data-of=tradeoff]")
    expect(finding).to_contain_text("the teacher needs")
    type_into(page, page.get_by_label("A sentence that all of them read", exact=True), "What a dull film.", "Enter")
    expect(finding).to_contain_text("“What a dull film.”")
    wait_idle(page)
    page.reload()
    expect(finding).to_contain_text("“What a dull film.”")


@pytest.mark.slow
def test_a_student_is_taught_beside_one_that_learns_alone(page):
    open_page(page, "smaller", part="Teacher and student")
    page.get_by_role("button", name="Train both", exact=True).click()
    finding = page.locator(".mb-finding[data-of=students]")
    expect(finding).to_contain_text("student alone", timeout=MINUTES)
    expect(finding).to_contain_text("taught: soft labels", timeout=3 * MINUTES)  # its teacher learns first
    expect(page.get_by_text("its teacher").first).to_be_visible(timeout=MINUTES)
