"""Masking as a reader meets it: clicks, double clicks and keys hide words, sliders stay a whole, links hold it all."""

import re

from tests.browser.driver import assert_no_markup, expect, open_page, type_into, wait_idle
from tests.hostile import HOSTILE, IN_A_BROWSER

SENTENCE = "The man looked at the house."  # words that any English vocabulary has whole
FIELDS = {
    "What falls": ("Text to hide tokens in", "Sentence with blanks"),
    "One blank, two sentences": ("Sentence A, with a [MASK]",),
    "Why not always [MASK]": ("Sentence to look into",),
}


def chip(page, position: int):
    return page.locator(f".st-key-chip-{position} button")


def read(page) -> list[str]:
    """What the model reads, from the masks that fall under the sliders."""
    return page.get_by_role("list", name="What the model reads").get_by_role("listitem").all_inner_texts()


def handle(page, name: str):
    return page.get_by_role("slider", name=name)


def test_a_click_hides_a_word_and_the_bars_follow(page):
    open_page(page, "masking", cloze=SENTENCE, blanks="2")
    bars = page.locator(".st-key-blank-bars")
    expect(chip(page, 2)).to_have_text("[MASK]")
    expect(bars.locator(".annotation-text")).to_have_count(0)  # its name is the title
    chip(page, 6).click()
    expect(chip(page, 6)).to_have_text("[MASK]")
    expect(bars.locator(".annotation-text")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"blanks=2\.6"))
    page.reload()
    wait_idle(page)
    expect(chip(page, 6)).to_have_text("[MASK]")
    chip(page, 6).click()
    expect(chip(page, 6)).to_have_text("house")


def test_a_double_click_hides_too(page):
    open_page(page, "masking", cloze=SENTENCE, blanks="2")
    chip(page, 6).dblclick()
    expect(chip(page, 6)).to_have_text("[MASK]")
    wait_idle(page)
    expect(chip(page, 6)).to_have_text("[MASK]")
    expect(page).to_have_url(re.compile(r"blanks=2\.6"))


def test_the_keyboard_hides_too(page):
    open_page(page, "masking", cloze=SENTENCE, blanks="2")
    chip(page, 5).focus()
    page.keyboard.press("Tab")
    expect(chip(page, 6)).to_be_focused()
    page.keyboard.press("Enter")
    expect(chip(page, 6)).to_have_text("[MASK]")


def test_draw_again_and_back(page):
    open_page(page, "masking", seed=11)
    first = read(page)
    page.get_by_role("button", name="Draw again").click()
    expect(page).to_have_url(re.compile("seed=12"))
    wait_idle(page)
    second = read(page)
    assert first != second
    open_page(page, "masking", seed=11)
    assert read(page) == first


def test_the_shares_stay_a_whole(page):
    open_page(page, "masking")
    random = handle(page, "of these: random token")
    random.focus()
    for value in range(11, 16):  # one after another: Streamlit's slider loses keys that come while it is answered
        random.press("ArrowRight")
        expect(random).to_have_value(str(value))
        wait_idle(page)
    expect(page).to_have_url(re.compile(r"split=\d+-15-\d+"))
    wait_idle(page)
    shares = [int(handle(page, f"of these: {name}").input_value()) for name in ("[MASK]", "random token", "kept")]
    assert shares[1] == 15
    assert sum(shares) == 100
    page.get_by_role("button", name="The paper's values").click()
    expect(page).not_to_have_url(re.compile("split="))
    expect(random).to_have_value("10")


def test_static_masks_repeat(page):
    open_page(page, "masking", epochs=3, part="Epoch after epoch")
    page.get_by_role("radio", name="drawn once").click()
    expect(page.get_by_text("More epochs add nothing")).to_be_visible()
    expect(page).to_have_url(re.compile("masks=static"))
    rows = page.locator(".st-key-epoch-rows .ytick text")
    expect(rows).to_have_text([re.compile("Epoch 1: [1-9]"), "Epoch 2: 0 new", "Epoch 3: 0 new"])


def test_a_pair_is_compared_over_the_whole_vocabulary(page):
    open_page(page, "masking", a="She fed the [MASK].", b="She opened the [MASK].")
    figure = page.locator(".st-key-two-contexts")
    figure.scroll_into_view_if_needed()
    assert figure.locator(".scatterlayer .point").count() > 200
    assert figure.locator("canvas").count() == 0
    assert [text for text in figure.locator(".textpoint text").all_text_contents() if text]


def test_any_text_is_text(page):
    for part, labels in FIELDS.items():
        open_page(page, "masking", part=part)
        for name in IN_A_BROWSER:
            for label in labels:
                key = "ControlOrMeta+Enter" if label.startswith("Text") else "Enter"
                type_into(page, page.get_by_label(label, exact=True), HOSTILE[name], key)
            assert_no_markup(page)
            expect(page.get_by_role("heading", name="Check yourself")).to_be_visible()
            assert len(page.url) < 4_000


def test_masks_fall_epoch_by_epoch(page):
    open_page(page, "masking", epochs=3, seed=11)
    said = page.locator(".mb-falling .said")
    expect(said).to_contain_text("Epoch 1 of 3")
    first = read(page)
    row = page.get_by_role("list", name="What the model reads")
    row.focus()
    row.press("ArrowRight")
    expect(said).to_contain_text("Epoch 2 of 3")
    assert read(page) != first
    page.get_by_role("button", name="Next epoch").click()
    expect(said).to_contain_text("Epoch 3 of 3")
    expect(page.get_by_role("button", name="Next epoch")).to_be_disabled()
    page.get_by_role("button", name="Play").click()  # from the beginning, and by itself to the end
    expect(said).to_contain_text("Epoch 1 of 3")
    expect(said).to_contain_text("Epoch 3 of 3")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_what_was_set_in_a_part_is_there_on_coming_back(page):
    open_page(page, "masking", rate=40, epochs=7, seed=5)
    first = read(page)
    page.get_by_role("tab", name="One blank").click()
    expect(page.get_by_label("Sentence A, with a [MASK]", exact=True)).to_be_visible()
    wait_idle(page)
    page.get_by_role("tab", name="What falls").click()
    expect(page.locator(".mb-falling .said")).to_contain_text("Epoch 1 of 7")
    wait_idle(page)
    assert read(page) == first


def test_the_quiz_explains(page):
    open_page(page, "masking")
    quiz = page.locator(".st-key-quiz-masking-0-box")
    quiz.get_by_text("Because there is no next token").click()
    expect(quiz.get_by_test_id("stAlertContainer")).to_contain_text("Not quite.")
    quiz.get_by_text("Because each position sees").click()
    expect(quiz.get_by_test_id("stAlertContainer")).to_contain_text("Right.")
