"""Tokenization in a browser: its window, steps by keys, the light between a token and its origin, merges."""

import re

import pytest

from minibert.tokenizer import Tokenizer
from sections.tokenization.corpus import bundled, learning
from tests.browser.driver import assert_no_markup, expect, open_page, type_into, wait_idle
from tests.hostile import EVERYTHING, HOSTILE
from tests.server import ROOT


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_the_window_shrinks_until_a_piece_is_found(page):
    open_page(page, "tokenization", text="cats untokenize")
    tokenizer = Tokenizer.from_directory(ROOT / "checkpoints" / "mini-en")
    tries: list = []
    pieces = [piece for _start, _end, piece in tokenizer.wordpiece("untokenize", tries)[0]]
    picture = page.locator(".st-key-picture")
    expect(picture.locator(".frame")).to_be_hidden()
    picture.locator(".moving").focus()
    for number, one in enumerate(tries, 1):
        page.keyboard.press("ArrowRight")
        expect(picture.locator(".frame")).to_contain_text(one.piece)
        expect(picture.locator(".count")).to_have_text(f"step {number} of {len(tries)}")
    expect(picture.locator(".pieces bdi")).to_have_text(pieces)
    page.keyboard.press("ArrowLeft")
    expect(picture.locator(".pieces bdi")).to_have_text(pieces[:-1])
    picture.get_by_role("button", name="cats").click()
    expect(page).to_have_url(re.compile("word=1"))
    expect(picture.locator(".letters")).to_contain_text("cats")


def test_steps_by_keys_light_from_a_token_to_its_origin_and_any_text(page):
    open_page(page, "tokenization", part="Step by step", step=5, text="cats bark")
    page.locator("body").press("ArrowRight")
    expect(page).to_have_url(re.compile("step=6"))
    wait_idle(page)
    plain = page.locator(".tk-from.tk-o2").evaluate("node => getComputedStyle(node).backgroundColor")
    page.locator(".tk-t2").hover()
    expect(page.locator(".tk-from.tk-o2")).not_to_have_css("background-color", plain)
    for step in (6, 5):
        type_into(page, page.get_by_label("Your text", exact=True), EVERYTHING)
        assert_no_markup(page)
        page.mouse.click(2, 2)
        page.locator("body").press("ArrowLeft")
        expect(page).to_have_url(re.compile(f"step={step - 1}"))
        wait_idle(page)
        type_into(page, page.get_by_label("Your text", exact=True), "cats")


@pytest.mark.release
@pytest.mark.parametrize("name", ["tokenization", "through", "home", "masking"])
def test_very_long_texts(page, name):
    """Nor is a page wider than its window then."""
    fields = {"tokenization": "Your text", "through": "Your sentence", "home": "Your sentence"}
    open_page(page, name)
    field = page.get_by_label(fields.get(name, "Sentence with blanks"), exact=name == "tokenization").first
    for text in ("long", "long word"):
        type_into(page, field, HOSTILE[text])
        assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth - e.clientWidth") <= 1
        assert len(page.url) < 4_000


@pytest.mark.release
def test_merges_fuse_and_the_learned_vocabulary_shows_its_effect_where_it_is_chosen(page):
    open_page(page, "tokenization", part="Learn a vocabulary", merge=40)
    stage = page.locator(".st-key-learning-stage")
    stage.get_by_role("button", name="One step on").click()
    expect(stage.locator(".count")).to_have_text(re.compile("^merge 41 of"))
    expect(page).to_have_url(re.compile("merge=41"))
    learned = learning(bundled("parts"), True, "frequency")
    expect(stage.locator(".changed .fresh").first).to_have_text(learned.merges[40].new)
    wait_idle(page)
    page.get_by_role("button", name="Use this vocabulary on the whole page").click()
    expect(page).to_have_url(re.compile("vocab=learned"))
    expect(page.locator(".st-key-vocabulary-choice button").first).to_contain_text("learned just now")
