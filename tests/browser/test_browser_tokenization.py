"""The tokenization page in a real browser: steps, ladders, the light between a token and its origin, learning."""

import re

import pytest

from minibert.tokenizer import Tokenizer
from sections.tokenization.corpus import bundled, learning
from tests.browser.driver import (
    assert_fits,
    assert_no_markup,
    expect,
    on_every_screen,
    open_page,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE, IN_A_BROWSER
from tests.server import ROOT


def heading(page, name: str):
    return page.get_by_role("heading", name=name, exact=True)


def open_settings(page) -> None:
    page.locator(".st-key-vocabulary-choice button").first.click()
    expect(page.get_by_label("Your own vocab.txt").first).to_be_visible()


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
        there = f"“{one.piece}” is there" if one.found else f"“{one.piece}” is not there"
        expect(picture.locator(".frame")).to_contain_text(there)
        expect(picture.locator(".count")).to_have_text(f"try {number} of {len(tries)}")
    expect(picture.locator(".pieces bdi")).to_have_text(pieces)
    expect(picture.locator(".said")).to_have_text(f"“untokenize” is {len(pieces)} tokens, found in {len(tries)} tries")
    page.keyboard.press("ArrowLeft")
    expect(picture.locator(".pieces bdi")).to_have_text(pieces[:-1])
    picture.get_by_role("button", name="cats").click()
    expect(page).to_have_url(re.compile("word=1"))
    expect(picture.locator(".letters")).to_contain_text("cats")


def test_the_window_plays_by_itself_and_can_be_held(page):
    open_page(page, "tokenization", text="untokenize")
    picture = page.locator(".st-key-picture")
    picture.get_by_role("button", name="Pause").click()
    expect(picture.get_by_role("button", name="Play")).to_be_visible()
    told = picture.locator(".count").inner_text()
    page.wait_for_timeout(1_500)  # what must not happen: that it goes on
    assert picture.locator(".count").inner_text() == told
    picture.get_by_role("button", name="Play").click()
    expect(picture.locator(".said")).to_contain_text("found in")


def test_the_arrows_walk_through_all_steps_and_the_link_follows(page):
    open_page(page, "tokenization")
    page.get_by_role("tab", name="Step by step").click()
    heading(page, "Clean").click()  # on a tab the arrows go from tab to tab
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
    open_settings(page)
    page.get_by_role("radio", name=re.compile("^Chinese")).first.click()
    expect(tokens.filter(has_text="老")).to_have_count(1)
    expect(tokens.filter(has_text="[UNK]")).to_have_count(0)
    expect(page).to_have_url(re.compile("vocab=zh"))


def test_merges_fuse_and_the_learned_vocabulary_shows_its_effect_where_it_is_chosen(page):
    open_page(page, "tokenization", merge=40)
    stage = page.locator(".st-key-learning-stage")
    stage.get_by_role("button", name="One step on").click()
    expect(stage.locator(".count")).to_have_text(re.compile("^merge 41 of"))
    expect(page).to_have_url(re.compile("merge=41"))
    learned = learning(bundled("parts"), True, "frequency")
    expect(stage.locator(".changed .fresh").first).to_have_text(learned.merges[40].new)
    wait_idle(page)
    button = page.get_by_role("button", name="Use this vocabulary on the whole page")
    button.click()
    said = page.get_by_text("The whole page cuts your sentence with this vocabulary now.")
    expect(said).to_be_in_viewport()  # where it was pressed
    expect(page).to_have_url(re.compile("vocab=learned"))
    expect(page.locator(".st-key-vocabulary-choice button").first).to_contain_text("learned just now")


@pytest.mark.parametrize("step", [5, 6])
def test_any_text_is_text(page, step):
    open_page(page, "tokenization", step=step)
    for name in IN_A_BROWSER:
        type_into(page, page.get_by_label("Your text", exact=True), HOSTILE[name])
        assert_no_markup(page)


@pytest.mark.parametrize("query", [{"step": 5}, {}], ids=["step 5", "first"])
def test_it_fits(page, query):
    open_page(page, "tokenization", text="x" * 99 + " " + "好" * 60, **query)
    for screen in on_every_screen(page):
        assert_fits(page, f"tokenization-{screen}-{query.get('step')}")
