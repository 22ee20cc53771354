"""The tokenization page in a real browser: steps, ladders, the light between a token and its origin, learning."""

import re

import pytest

from tests.browser.driver import (
    assert_fits,
    assert_no_markup,
    expect,
    on_every_screen,
    open_page,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE, texts_in_a_browser


def heading(page, name: str):
    return page.get_by_role("heading", name=name, exact=True)


def test_the_arrows_walk_through_all_steps_and_the_link_follows(page):
    open_page(page, "tokenization")
    names = ["Clean", "Split", "Case and accents", "Punctuation", "WordPiece", "Tokens and ids"]
    for number, name in enumerate(names, 1):
        expect(heading(page, name)).to_be_visible()
        if number > 1:
            expect(page).to_have_url(re.compile(f"step={number}"))
        if number < len(names):
            wait_idle(page)
            page.locator("body").press("ArrowRight")
    page.get_by_role("button", name="2. Split").click()
    expect(heading(page, "Split")).to_be_visible()
    expect(page.locator(".tk-cjk")).to_have_count(2)


def test_choosing_a_word_shows_its_tries(page):
    open_page(page, "tokenization", step=5, text="cats unbelievably")
    rows = page.locator(".tk-ladder tr")
    expect(page.locator(".tk-ladder tr").first).to_contain_text("unbelievably")
    tries = rows.count()
    page.get_by_role("radio", name=re.compile("cats")).click()
    expect(rows.first).to_contain_text("cats")
    expect(page).to_have_url(re.compile("word=1"))
    wait_idle(page)
    assert rows.count() < tries


def test_pointing_at_a_token_lights_up_where_it_comes_from(page):
    open_page(page, "tokenization", step=6, text="cats bark")
    source = page.locator(".tk-from.tk-o2")
    plain = source.evaluate("node => getComputedStyle(node).backgroundColor")
    page.locator(".tk-t2").hover()
    page.wait_for_function(
        "([selector, was]) => getComputedStyle(document.querySelector(selector)).backgroundColor !== was",
        arg=[".tk-from.tk-o2", plain],
    )


def test_another_vocabulary_cuts_differently(page):
    open_page(page, "tokenization", step=6, text="Paris 老师")
    tokens = page.locator(".tk-tokens .tk-box")
    expect(tokens.filter(has_text="[UNK]")).to_have_count(2)
    page.get_by_role("radio", name=re.compile("^Chinese")).first.click()
    expect(tokens.filter(has_text="老")).to_have_count(1)
    expect(tokens.filter(has_text="[UNK]")).to_have_count(0)
    expect(page).to_have_url(re.compile("vocab=zh"))


def test_a_learned_vocabulary_goes_up_to_the_sentence(page):
    open_page(page, "tokenization", merge=40)
    page.get_by_role("button", name="One more").click()
    expect(page.get_by_text("Merge 41", exact=True)).to_be_visible()
    page.get_by_role("button", name="Use this vocabulary for your sentence").click()
    expect(page).to_have_url(re.compile("vocab=learned"))
    expect(page.get_by_role("radio", name=re.compile("learned just now")).first).to_be_checked()


@texts_in_a_browser
@pytest.mark.parametrize("step", [5, 6])
def test_any_text_is_text(page, step, names):
    open_page(page, "tokenization", step=step)
    for name in names:
        type_into(page, page.get_by_label("Your text", exact=True), HOSTILE[name])
        assert_no_markup(page)


@on_every_screen
def test_it_fits(page, request):
    open_page(page, "tokenization", step=5, text="x" * 99 + " " + "好" * 60)
    assert_fits(page, f"tokenization-{request.node.callspec.id}")
