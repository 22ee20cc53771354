"""Knowledge in a browser: a fact of the reader's own on a sentence of their own, and the guess before the answer."""

from tests.browser.driver import expect, open_page, said_above, type_into, wait_idle


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
    expect(said_above(page, "knowledge-answers")).to_contain_text("with the matrix")
    page.reload()
    expect(tree.locator(".branch")).to_have_count(1)


def test_a_name_that_is_not_the_storys_is_found(page):
    open_page(page, "knowledge", part="Right name?")
    names = page.locator(".mb-tokens .mb-changed")
    expect(names).to_have_text(["anna98%"])
    type_into(
        page, page.get_by_label("Text in words of the toy world", exact=True),
        "anna and ben were good friends. later anna gave the ball to ben. now ben has it.", "Enter",
    )  # fmt: skip
    expect(names).to_have_count(0)


def test_roles_and_entities_stand_under_the_readers_words(page):
    open_page(page, "knowledge", part="Roles", who="soon anna gave the ball to ben.")
    expect(page.locator(".mb-tokens .mb-changed")).to_have_text(["gaveverb"])
    open_page(page, "knowledge", part="Entities", entities="anna was tired.", **{"noise-of": 1})
    expect(page.locator(".mb-tokens li")).to_have_count(4)
    expect(page.locator(".st-key-train-knowledge-entities button")).to_be_enabled()
    page.get_by_role("tab", name="The claim").click()
    page.get_by_role("radio", name="ERNIE of Tsinghua").or_(
        page.get_by_text("ERNIE of Tsinghua", exact=True)
    ).first.click()
    expect(page.get_by_text("Strangers, with the graph, over a BERT that stays as it is, against")).to_be_visible()
