"""Embeddings as a reader meets them: points move by slider and keys, a click shows neighbours, links hold it all."""

import re

import pytest

from tests.browser.driver import (
    MINUTES,
    assert_fits,
    assert_no_markup,
    expect,
    on_every_screen,
    open_page,
    said_above,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE, IN_A_BROWSER


def points(page):
    return page.locator(".mb-moving .point")


def places(page) -> list[str]:
    return points(page).evaluate_all("all => all.map(e => e.style.transform)")


def slider(page):
    return page.locator(".mb-moving input")


def test_points_move_from_layer_to_layer(page):
    open_page(page, "embeddings", layer=0)
    expect(points(page)).to_have_count(16)
    before = places(page)
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    expect(slider(page)).to_have_attribute("aria-valuetext", "1")
    assert places(page) != before
    expect(page).to_have_url(re.compile(r"[?&]layer=1\b"))
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"[?&]layer=0\b"))
    wait_idle(page)
    assert places(page) == before


def test_the_arrow_keys_work_in_the_picture_and_play_goes_to_the_end(page):
    open_page(page, "embeddings", layer=2)
    page.locator(".mb-moving > svg").focus()
    page.keyboard.press("ArrowLeft")
    expect(slider(page)).to_have_attribute("aria-valuetext", "1")
    page.locator(".mb-moving button").click()
    expect(slider(page)).to_have_attribute("aria-valuetext", "4")
    expect(page.locator(".mb-moving button")).to_contain_text("Play")


def test_a_click_shows_neighbours_and_the_link_keeps_them(page):
    open_page(page, "embeddings")
    points(page).nth(3).dispatch_event("click")
    expect(page.get_by_text("are of its own group")).to_be_visible()
    expect(page.locator(".mb-moving .lines path")).to_have_count(5)
    expect(page).to_have_url(re.compile(r"[?&]point=4\b"))
    page.reload()
    wait_idle(page)
    expect(page.locator(".mb-moving .chosen")).to_have_count(1)


def test_tsne_comes_as_a_run(page):
    open_page(page, "embeddings", method="tsne")
    before = places(page)
    page.get_by_role("button", name="Compute t-SNE").click()
    expect(page.get_by_text("Until t-SNE is there")).to_have_count(0, timeout=MINUTES)
    wait_idle(page)
    assert places(page) != before


def matrices(page):
    return said_above(page, "sentences")


def test_a_class_s_own_sentences_are_compared_and_the_link_keeps_them(page):
    open_page(page, "embeddings", model="mini-en", beside="untrained")
    box = page.get_by_label("Your sentences, one a line")
    lines = "The dog sleeps.\nTaxes rose again.\nThe dog sleeps."
    type_into(page, box, lines, "ControlOrMeta+Enter")
    expect(matrices(page)).to_contain_text("Closest in both: 1 and 3")
    expect(page).to_have_url(re.compile(r"[?&]sentences-en="))
    page.reload()
    wait_idle(page)
    expect(box).to_have_value(lines)
    expect(matrices(page)).to_contain_text("Closest in both: 1 and 3")


def test_models_are_held_against_scores_and_a_search_answers(page):
    open_page(page, "embeddings", model="mini-en", beside="minilm-en")
    expect(said_above(page, "against-scores")).to_contain_text("Counting common words", timeout=MINUTES)
    page.get_by_text("A vessel for automobiles").click()
    expect(page.get_by_text("minilm-en, layer 6", exact=True)).to_be_visible(timeout=MINUTES)
    expect(page).to_have_url(re.compile(r"[?&]query-en=A\+vessel"))


def test_any_text_is_text(page):
    open_page(page, "embeddings", what="tokens")
    for name in IN_A_BROWSER:
        type_into(page, page.get_by_label("Your text", exact=True), HOSTILE[name])
        assert_no_markup(page)
    open_page(page, "embeddings", what="sentences")
    for name in IN_A_BROWSER:
        type_into(page, page.get_by_label("Sentences of your own"), HOSTILE[name], "ControlOrMeta+Enter")
        assert_no_markup(page)
    open_page(page, "embeddings", part="Sentences beside each other")
    for name in IN_A_BROWSER:
        both = f"{HOSTILE[name]}\nA second line."
        type_into(page, page.get_by_label("Your sentences, one a line"), both, "ControlOrMeta+Enter")
        type_into(page, page.get_by_label("says something like this"), HOSTILE[name])
        assert_no_markup(page)


def test_a_new_star_rises_once_the_reader_has_guessed(page):
    open_page(page, "embeddings")
    type_into(page, page.get_by_label("Your sentence with"), "He fished from the bank.", "ControlOrMeta+Enter")
    expect(points(page)).to_have_count(16)
    page.get_by_role("button", name="river", exact=True).click()
    expect(points(page)).to_have_count(17)
    expect(page.locator(".mb-moving .finding")).to_contain_text("Embeddings, before the first layer")
    expect(page.locator(".mb-moving .finding")).to_contain_text("Layer 6")


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_nothing_rises_for_who_wants_no_movement(page):
    open_page(page, "embeddings")
    expect(page.locator(".mb-moving .finding")).to_contain_text("Layer 6")
    expect(slider(page)).to_have_attribute("aria-valuetext", "6")


def test_it_fits(page):
    open_page(page, "embeddings", own="He fished from the bank.", point=3)
    for screen in on_every_screen(page):
        assert_fits(page, f"embeddings-{screen}")
