"""Sentence vectors in a browser: a reader's question finds its own, and SimCSE draws its way."""

from tests.browser.driver import MINUTES, expect, open_page, said_above, type_into, wait_idle


def test_a_readers_question_finds_a_line_of_the_class(page):
    open_page(page, "sentence_vectors")
    finding = said_above(page, "nearest")
    expect(finding).to_contain_text("The standard question")
    asked = page.get_by_label("A question in your words: who asks the same?", exact=True)
    type_into(page, asked, "May I bring a small dog?", "Enter")
    expect(finding).to_have_text("The standard question: “Can I bring my dog?”")
    wait_idle(page)
    page.reload()
    expect(finding).to_have_text("The standard question: “Can I bring my dog?”")


def test_simcse_draws_its_way_while_it_learns(page):
    open_page(page, "sentence_vectors", part="Train SimCSE", model="mini-en")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(said_above(page, "plane")).to_contain_text("SimCSE, dropout 0", timeout=MINUTES)
    expect(page.get_by_text("now:").first).to_be_visible(timeout=MINUTES)


def test_simbert_learns_the_desk_and_is_found_again(page):
    open_page(page, "sentence_vectors", part="Find and write", model="mini-en")
    page.get_by_role("button", name="Train", exact=True).click()
    finding = said_above(page, "found-and-written")
    expect(finding).to_contain_text("of those held out", timeout=MINUTES)
    page.reload()
    expect(page.get_by_text("writes:").first).to_be_visible(timeout=MINUTES)
