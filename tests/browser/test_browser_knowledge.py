"""Knowledge in a browser: a fact of the reader's own on a sentence of their own, and the guess before the answer."""

from tests.browser.driver import expect, open_page, type_into, wait_idle


def test_a_readers_own_fact_is_hung_on_their_own_sentence(page):
    open_page(page, "knowledge")
    tree = page.locator(".mb-tree")
    expect(tree.locator(".branch")).to_have_count(1)
    type_into(
        page, page.get_by_label("A sentence, with a [MASK] if you like", exact=True), "My 猫 likes [MASK].", "Enter"
    )
    expect(tree.locator(".branch")).to_have_count(0)
    type_into(
        page, page.get_by_label("A fact: subject | relation | object", exact=True), "猫 | is fond of | fish 🐟", "Enter"
    )
    expect(tree.locator(".branch")).to_have_count(1)
    expect(tree.locator(".named")).to_have_text("[UNK]3is4fond5of6fish7[UNK]8")
    wait_idle(page)
    page.locator(".st-key-believes-guess-1 button").click()
    expect(page.locator(".mb-finding[data-of=knowledge-answers]")).to_contain_text("with the matrix")
    page.reload()
    expect(tree.locator(".branch")).to_have_count(1)
