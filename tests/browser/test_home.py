"""Home as a reader meets it: whole, clickable, shareable, and quiet on the network."""

import re

import pytest

from tests.browser.driver import (
    MINUTES,
    assert_fits,
    assert_no_markup,
    expect,
    on_every_screen,
    open_page,
    type_into,
    wait_idle,
)
from tests.hostile import HOSTILE, IN_A_BROWSER
from tests.server import LESSON_PAGES

# What is printed across the edge of its model's card.
OUT_OF_ITS_CARD = """e => [...e.querySelectorAll('article')].flatMap(card => {
  const frame = card.getBoundingClientRect();
  return [...card.querySelectorAll('bdi, b, h2, h3, p')].filter(t => {
    const box = t.getBoundingClientRect();
    return box.left < frame.left || box.right > frame.right;
  }).map(t => t.textContent);
})"""


def sees(page, model: str):
    """The line under a model's figure."""
    return page.get_by_test_id("stColumn").filter(has=page.get_by_role("heading", name=model)).get_by_text("Sees")


def test_the_road_leads_to_every_lesson(page):
    open_page(page)
    lessons = LESSON_PAGES - {"home"}
    stops = page.locator('[class*="st-key-stop-"] a')
    assert {link.get_attribute("href").strip("/") for link in stops.all()} == lessons


def test_every_lesson_is_reached_from_the_menu_and_opens(page):
    """That no exception was shown on the way is checked after each test."""
    open_page(page)
    menu = page.get_by_test_id("stSidebarNav")
    addresses = [link.get_attribute("href") for link in menu.get_by_role("link").all()]
    assert len(addresses) == len(LESSON_PAGES)
    for address in addresses[::-1]:
        menu.locator(f'a[href="{address}"]').click()
        expect(page).to_have_url(re.compile(re.escape(address.strip("./")) or "/(home)?$"))
        wait_idle(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_a_stop_is_a_link_all_over(page):
    open_page(page)
    card = page.locator('[class*="st-key-stop-"]').last
    name = re.search(r"st-key-stop-(\w+)", card.get_attribute("class"))[1]
    box = card.bounding_box()
    card.click(position={"x": box["width"] - 12, "y": box["height"] - 12})
    expect(page).to_have_url(re.compile(f"/{name}"))
    page.go_back()
    expect(page.get_by_role("heading", name="BERT, from a sentence to an answer")).to_be_visible()


def test_a_click_on_a_position_shows_what_it_sees_in_each_model(page):
    open_page(page)
    expect(sees(page, "GPT")).to_contain_text("2 of 7 words")
    figure = page.locator(".st-key-see-BERT")
    figure.scroll_into_view_if_needed()
    points = [point.bounding_box() for point in figure.locator(".scatterlayer .point").all()]
    right = max(points, key=lambda box: (round(box["x"]), -box["y"]))
    page.mouse.click(right["x"] + right["width"] / 2, right["y"] + right["height"] / 2)
    expect(sees(page, "GPT")).to_contain_text("7 of 7 words")
    expect(sees(page, "ELMo")).to_contain_text("one half sees 7, the other 1")
    expect(page).to_have_url(re.compile("word=7"))
    page.get_by_role("radio", name="by", exact=True).click()
    expect(sees(page, "GPT")).to_contain_text("3 of 7 words")
    expect(sees(page, "BERT")).to_contain_text("7 of 7 words")
    page.go_back()
    expect(sees(page, "GPT")).to_contain_text("7 of 7 words")


def test_a_link_opens_what_was_on_screen(page):
    open_page(page, sentence="one two three", word=1)
    expect(page.get_by_label("A sentence")).to_have_value("one two three")
    expect(sees(page, "GPT")).to_contain_text("1 of 3 words")


def test_a_bad_link_falls_back(page):
    open_page(page, word="²", sentence="y" * 3000, lang="xx")
    expect(page.get_by_label("A sentence")).to_have_value("The bank by the river was closed")


def test_any_text_is_text(page):
    open_page(page)
    for name in IN_A_BROWSER:
        text = HOSTILE[name]
        type_into(page, page.get_by_label("A sentence"), text)
        if name == "joiners":
            expect(page.get_by_text("Type at least one word.")).to_be_visible()
        else:
            expect(page.locator(".st-key-see-GPT")).to_be_visible()
        assert_no_markup(page)
        expect(page.get_by_text("100,000 characters")).to_have_count(1 if len(text) > 5_000 else 0)
        assert ("sentence=" in page.url) is (len(text) <= 500)


def test_the_quiz_explains_every_choice_and_lets_one_change_it(page):
    open_page(page)
    quiz = page.locator(".st-key-quiz-home-0-box")
    quiz.get_by_text("Because recurrent networks").click()
    expect(quiz.get_by_test_id("stAlert")).to_contain_text("Not quite.")
    quiz.get_by_text("Because no vector inside").click()
    expect(quiz.get_by_test_id("stAlert")).to_contain_text("Right.")


def test_it_fits_and_the_models_keep_to_their_columns(page):
    open_page(page)
    for screen in on_every_screen(page):
        models = answered(page)
        assert_fits(page, f"home-{screen}")
        outside = models.evaluate(OUT_OF_ITS_CARD)
        assert not outside


def test_a_page_does_not_inherit_what_another_one_calls_by_the_same_name(page):
    """Tokenization and Masking both keep their text under `text`."""
    open_page(page, "masking")
    field = page.get_by_role("textbox", name="Text to hide tokens in")
    first = field.input_value()
    assert first
    open_page(page, "tokenization", text="something else")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Masking").click()
    expect(field).to_have_value(first)


# --- the first minute -------------------------------------------------------------------------------------------------

LARGE = {"viewport": {"width": 1280, "height": 800}}
WALL = {"viewport": {"width": 1920, "height": 1080}}


def answered(page):
    """The three models, once they have answered: before torch is there the page shows a frame."""
    models = page.locator(".st-key-first-minute .mb-models:not([aria-busy])")
    expect(models).to_be_visible(timeout=MINUTES)
    wait_idle(page)
    return models


def words(page) -> list[str]:
    return page.locator('[class*="st-key-hide-"]:not(:has(kbd)) button').all_inner_texts()


@pytest.mark.parametrize("page", [LARGE], indirect=True)
def test_the_first_screen_is_the_sentence_and_its_picture(page):
    open_page(page)
    models = answered(page)
    expect(models.get_by_role("heading", level=2)).to_have_text(["Random weights", "mini-en", "minilm-en"])
    box = page.locator(".st-key-picture").bounding_box()
    assert box["y"] <= 400 and min(box["y"] + box["height"], 800) - box["y"] >= 330, box
    title = page.get_by_role("heading", level=1).bounding_box()
    assert title["y"] >= 0
    for button in page.get_by_test_id("stHeader").locator("button:visible").all():
        over = button.bounding_box()
        beside = over["x"] >= title["x"] + title["width"] or over["x"] + over["width"] <= title["x"]
        assert beside or title["y"] >= over["y"] + over["height"], "the title is under a button of the bar at the top"


@pytest.mark.parametrize("page", [WALL], indirect=True)
def test_a_wall_shows_it_whole(page):
    open_page(page, projector=1)
    answered(page)
    box = page.locator(".mb-through .scene").bounding_box()
    assert box["y"] + box["height"] <= 1080, box
    small = "all => Math.min(...all.map(e => parseFloat(getComputedStyle(e).fontSize)))"
    assert page.locator(".mb-through :is(svg text, .answer)").evaluate_all(small) >= 19


def test_a_click_a_key_and_the_way_back_move_the_blank(page):
    open_page(page)
    models = answered(page)
    expect(models.get_by_role("heading", name="Expects no word")).to_be_visible()
    assert words(page)[6] == "[MASK]"
    before = models.inner_text()
    page.get_by_role("button", name="keys", exact=True).click()
    expect(page.locator(".st-key-hide-1 button")).to_have_text("[MASK]")
    expect(page).to_have_url(re.compile("blank=2"))
    wait_idle(page)
    assert models.inner_text() != before
    page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-hide-2 button")).to_have_text("[MASK]")
    wait_idle(page)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".st-key-hide-1 button")).to_have_text("[MASK]")
    wait_idle(page)
    page.locator(".st-key-hide-4 button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-hide-4 button")).to_have_text("[MASK]")
    wait_idle(page)
    page.go_back()
    expect(page.locator(".st-key-hide-1 button")).to_have_text("[MASK]")


def test_a_sentence_is_typed_chosen_and_taken_along(page):
    open_page(page)
    answered(page)
    type_into(page, page.get_by_label("Your sentence"), "The cat sat on the mat.")
    assert words(page) == ["The", "cat", "sat", "on", "the", "[MASK]", "."]
    expect(page.get_by_role("link", name="Blanks: Masking")).to_have_attribute("href", re.compile("cloze=.*MASK"))
    page.get_by_text("bank of the river", exact=True).click()
    expect(page.get_by_label("Your sentence")).to_have_value("They fished from the bank of the river.")
    expect(page.get_by_label("Does this follow?")).to_have_value("They caught two trout before noon.")
    wait_idle(page)
    page.get_by_role("link", name="What follows: Next sentence").click()
    expect(page.get_by_role("textbox", name="A", exact=True)).to_have_value("They fished from the bank of the river.")


def test_a_link_opens_a_sentence_and_its_blank(page):
    open_page(page, text="one two three", blank=1, next="four five")
    answered(page)
    assert words(page) == ["[MASK]", "two", "three"]
    expect(page.get_by_label("Does this follow?")).to_have_value("four five")
    expect(page.get_by_label("A sentence")).to_have_value("The bank by the river was closed")


def test_any_text_is_text_in_the_first_minute(page):
    open_page(page)
    answered(page)
    for name in IN_A_BROWSER:
        type_into(page, page.get_by_label("Does this follow?"), HOSTILE[name])
        type_into(page, page.get_by_label("Your sentence"), HOSTILE[name])
        if name == "joiners":
            expect(page.get_by_text("Type at least one word.")).to_be_visible()
        else:
            answered(page)
        assert_no_markup(page)
        wide = page.get_by_test_id("stMain").evaluate("e => e.scrollWidth - e.clientWidth")
        assert wide <= 1, name
