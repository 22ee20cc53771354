"""The tokenization page in a real browser: steps, ladders, the light between a token and its origin, learning."""

import re

import pytest

from tests.browser.driver import expect, open_page, screenshot, wait_idle

HOSTILE = [
    "",
    "x" * 100_000,
    "😀🏳️‍🌈👩‍👩‍👧‍👦",
    "שלום עולם مرحبا",
    "a\x00b\x00",
    "</script><img src=x onerror=alert(1)>",
    "我喜欢自然语言处理",
    "e\u0301\u0323 \u200d\u200b",
]


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


@pytest.mark.parametrize("step", [5, 6])
def test_no_text_breaks_the_page_or_becomes_markup(page, step):
    open_page(page, "tokenization", step=step)
    page.on("dialog", lambda dialog: pytest.fail("a script of the text was run"))
    field = page.get_by_label("Your text", exact=True)
    for text in HOSTILE:
        field.fill(text)
        field.press("Enter")
        wait_idle(page)
        assert page.locator('[data-testid="stMain"] img[src="x"]').count() == 0


@pytest.mark.parametrize("page", [{"color_scheme": "dark", "viewport": {"width": 1920, "height": 1080}}], indirect=True)
def test_nothing_is_wider_than_the_screen(page):
    open_page(page, "tokenization", step=5, text="x" * 99 + " " + "好" * 60)
    screenshot(page, "tokenization-dark-1920")
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("node => node.scrollWidth <= node.clientWidth")
