"""Home as a reader meets it: whole, clickable, shareable, and quiet on the network."""

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
from tests.server import ROOT


def sees(page, model: str):
    """The line under a model's figure."""
    return page.get_by_test_id("stColumn").filter(has=page.get_by_role("heading", name=model)).get_by_text("Sees")


def test_the_road_leads_to_every_lesson(page):
    open_page(page)
    lessons = {path.stem for path in (ROOT / "pages").glob("*.py")} - {"home"}
    stops = page.locator('[class*="st-key-stop-"] a')
    assert {link.get_attribute("href").strip("/") for link in stops.all()} == lessons


@pytest.mark.slow
def test_every_lesson_is_reached_from_the_menu_and_opens(page):
    """That no exception was shown on the way is checked after each test."""
    open_page(page)
    menu = page.get_by_test_id("stSidebarNav")
    addresses = [link.get_attribute("href") for link in menu.get_by_role("link").all()]
    assert len(addresses) == len(list((ROOT / "pages").glob("*.py")))
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


@texts_in_a_browser
def test_any_text_is_text(page, names):
    open_page(page)
    for name in names:
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


@on_every_screen
def test_it_fits(page, request):
    open_page(page)
    assert_fits(page, f"home-{request.node.callspec.id}")


def test_a_page_does_not_inherit_what_another_one_calls_by_the_same_name(page):
    """Tokenization and Masking both keep their text under `text`."""
    open_page(page, "masking")
    field = page.get_by_role("textbox", name="Text to hide tokens in")
    first = field.input_value()
    assert first
    open_page(page, "tokenization", text="something else")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Masking").click()
    expect(field).to_have_value(first)
