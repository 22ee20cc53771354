"""The probes page as a reader meets it: a run brings lines, the lens follows the sentence, nothing is cut off."""

import re

from tests.browser.driver import (
    MINUTES,
    assert_fits,
    assert_no_markup,
    expect,
    open_page,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE, IN_A_BROWSER


def test_probes_are_trained_and_found_again(page):
    open_page(page, "probes", seeds=1)
    page.get_by_role("button", name=re.compile("Train .* probes")).click()
    expect(page.locator(".st-key-probe-lines")).to_be_visible(timeout=MINUTES)
    page.get_by_role("tab", name="Surface, syntax, meaning").click()
    expect(page.get_by_text(re.compile("Ours (agrees|does not agree|cannot tell)")).first).to_be_visible(
        timeout=MINUTES
    )
    wait_idle(page)
    page.reload()
    wait_idle(page)
    expect(page.get_by_text(re.compile("Ours (agrees|does not agree|cannot tell)")).first).to_be_visible()
    page.get_by_role("tab", name="Ask every layer").click()
    expect(page.locator(".st-key-probe-lines")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Train .* probe"))).to_have_count(0)
    page.get_by_role("radio", name="selectivity").click()
    expect(page).to_have_url(re.compile("measure=selectivity"))
    wait_idle(page)
    assert_fits(page, "probes-results")


def test_a_run_can_be_stopped(page):
    open_page(page, "probes", seeds=5, beside="false")
    page.get_by_role("button", name=re.compile("Train .* probes")).click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name=re.compile("Train .* probes"))).to_be_visible()


def test_the_lens_follows_the_sentence(page):
    open_page(page, "probes")
    words = page.locator(".st-key-lens-words")
    expect(words.get_by_text(re.compile("by"))).not_to_have_count(0)
    page.get_by_role("button", name="Show it").click()
    type_into(page, page.get_by_label("Sentence with a [MASK]"), "Berlin is the capital of [MASK].")
    type_into(page, page.get_by_role("textbox", name="The right word"), "germany")
    expect(page.get_by_text(re.compile("At the last layer germany has rank"))).to_be_visible()
    expect(page).to_have_url(re.compile("right=germany"))


def test_any_text_is_text(page):
    open_page(page, "probes")
    for name in IN_A_BROWSER:
        type_into(page, page.get_by_label("Sentence with a [MASK]"), HOSTILE[name] + " [MASK]")
        assert_no_markup(page)
