"""The parameters page in a browser: sliders, clicks on figures, the link, and what stays in view."""

import re

import pytest

from minibert.count import FAMILY, parameters
from tests.browser.driver import click_point, expect, open_page, wait_idle


def sums(page):
    return page.locator(".mb-sums")


def press(page, slider: str, key: str) -> None:
    wait_idle(page)
    page.get_by_role("slider", name=slider).press(key)


def start_from(page, name: str) -> None:
    page.get_by_role("combobox", name=re.compile("Start from")).click()
    page.get_by_role("option", name=name, exact=True).click()


def click_part(page, name: str) -> None:
    """Click the rectangle of the map with this label, where nothing that stays in view lies over it."""
    wait_idle(page)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    page.locator(".st-key-parts-map .bartext").get_by_text(re.compile(f"^{name} ")).first.click(force=True)


def test_a_slider_moves_the_sums_the_map_and_the_link(page):
    open_page(page, "parameters", part="nsp")
    expect(sums(page)).to_contain_text("110,106,428 parameters")
    press(page, "L layers", "ArrowRight")
    expect(sums(page)).to_contain_text("117,194,300 parameters")  # one block of 7,087,872 more
    expect(page.locator(".st-key-parts-map .annotation").get_by_text("13 blocks")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]L=13\b"))
    press(page, "H hidden size", "ArrowRight")
    expect(page).to_have_url(re.compile(r"A=13"))  # H takes the heads along
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize(("slider", "letter"), [("L layers", "L"), ("H hidden size", "H")])
@pytest.mark.parametrize("gap", [0, 60, 150])
def test_quick_presses_leave_the_slider_where_the_sums_are(page, slider, letter, gap):
    open_page(page, "parameters")
    wait_idle(page)
    handle = page.get_by_role("slider", name=slider)
    handle.focus()
    for _press in range(4):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(gap)  # faster than the page answers
    model = FAMILY["BERT-base"].config
    size = {"L": 16, "H": 768 + 4 * 64}[letter]
    heads = {"num_attention_heads": size // 64, "intermediate_size": 4 * size}
    config = model.change(num_hidden_layers=16) if letter == "L" else model.change(hidden_size=size, **heads)
    expect(sums(page)).to_contain_text(f"{parameters(config).pretraining:,} parameters")
    expect(page).to_have_url(re.compile(rf"[?&]{letter}={size}\b"))
    wait_idle(page)
    expect(handle).to_have_value(str(size))


def test_a_click_on_a_part_shows_its_formula_and_its_line_of_code(page):
    open_page(page, "parameters", L=12)
    click_part(page, "query")
    formula = page.locator(".mb-formula")
    expect(formula).to_contain_text("12 × (768² + 768)")
    expect(formula).to_contain_text("7,087,104")
    page.locator(".st-key-part-detail summary").click()
    marked = page.locator(".st-key-part-detail .mb-marked")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("self.query = nn.Linear")
    click_part(page, "token")
    expect(formula).to_contain_text("30,522·768")
    click_part(page, "token")  # a second click takes plotly's selection back, not the part
    expect(formula).to_contain_text("30,522·768")
    expect(page).to_have_url(re.compile("part=embeddings.token"))


def test_the_models_are_built_and_equal(page):
    open_page(page, "parameters", L=4, H=256, A=4, F=1024, view="110 million")
    page.get_by_role("button", name="Build the models and count").click()
    table = page.get_by_role("table").filter(has_text="the paper says")
    expect(table.get_by_text("= equal")).to_have_count(3)
    expect(table.get_by_text("11,267,900")).to_have_count(2)
    press(page, "L layers", "ArrowRight")  # and again at once, for other sizes
    expect(table.get_by_text(f"{11_267_900 + 789_760:,}")).to_have_count(2)
    expect(table.get_by_text("= equal")).to_have_count(3)
    expect(table.get_by_text("not equal")).to_have_count(0)


def test_presets_and_the_points_of_the_family_load_a_model(page):
    open_page(page, "parameters", L=12)
    start_from(page, "ALBERT-xlarge")
    expect(sums(page)).to_contain_text(f"{parameters(FAMILY['ALBERT-xlarge']).pretraining:,}")
    expect(page.locator(".st-key-parts-map .annotation").get_by_text("1 block, used 24 times")).to_be_visible()
    page.get_by_role("tab", name="The family").click()
    family = page.locator(".st-key-family-figure")
    expect(family.locator(".scatterlayer .trace").first.locator(".point")).to_have_count(6)
    click_point(page, family)
    expect(sums(page)).to_contain_text(f"{parameters(FAMILY['BERT-tiny']).pretraining:,}")


def test_what_does_not_fit_gets_a_sentence_and_goes_again(page):
    open_page(page, "parameters", A=7)
    alert = page.get_by_role("alert").filter(has_text="cannot be shared out among A = 7 heads")
    expect(alert).to_be_visible()
    press(page, "A heads", "ArrowRight")
    expect(alert).to_have_count(0)
    expect(sums(page)).to_contain_text("110,106,428")
    open_page(page, "parameters", T=1024, view="Arithmetic")
    expect(page.get_by_role("alert").filter(has_text="this model has P = 512").first).to_be_visible()


def test_the_sizes_stay_in_view(page):
    open_page(page, "parameters")
    page.get_by_text("The output matrix is free").scroll_into_view_if_needed()
    expect(page.locator(".st-key-sizes").get_by_text("L layers")).to_be_in_viewport()
    expect(sums(page)).to_be_in_viewport()


def test_a_link_opens_the_same_page_for_someone_else(page):
    open_page(page, "parameters")
    start_from(page, "ELECTRA-small")
    expect(page).to_have_url(re.compile("objective=rtd"))
    page.get_by_role("tab", name="Memory").click()
    page.get_by_role("radio", name="written out").click()
    expect(page).to_have_url(re.compile("attn=explicit"))
    page.get_by_role("tab", name="How it grows").click()
    page.get_by_role("radio", name="T tokens").click()
    expect(page).to_have_url(re.compile("grow=T"))
    expect(page).to_have_url(re.compile("attn=explicit"))
    wait_idle(page)
    told = sums(page).text_content()
    page.reload()
    wait_idle(page)
    expect(sums(page)).to_have_text(told)
    expect(page.get_by_role("radio", name="T tokens")).to_be_checked()
