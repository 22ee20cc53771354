"""How things look that pages share: a marked line of source, formulas, the menu's names, the words of figures."""

import pytest

from tests.browser.driver import expect, open_page, wait_idle
from tests.browser.inks import faint_words

LAPTOP = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
# Pages whose figures have words on the page and words in bars and on cells.
FIGURES = {
    "attribution": {},
    "electra": {},
    "encoder_decoder": {},
    "features": {},
    "masking": {"part": "In the paper"},
    "next_sentence": {"part": "Topic against coherence"},
    "output_layer": {},
    "parameters": {"view": "Memory"},
    "probes": {},
    "stability": {},
    "wrong_reasons": {},
}
ROW = """row => {
  const [number, code] = row.querySelectorAll('td'), css = getComputedStyle(row), text = getComputedStyle(code);
  return {height: row.getBoundingClientRect().height, left: code.getBoundingClientRect().left, display: css.display,
    margin: css.margin, size: text.fontSize, line: text.lineHeight, wrap: text.whiteSpace,
    family: text.fontFamily, numbered: getComputedStyle(number).textAlign};
}"""
# How many pixels of a formula's letters reach out of what its box lets be seen.
CUT = """box => {
  const frame = box.getBoundingClientRect();
  if (getComputedStyle(box).overflowY === 'visible') return 0;
  const letters = [...box.querySelectorAll('.katex-html *')];
  const inside = letters.filter((one) => one.childElementCount === 0 && one.textContent.trim());
  return Math.max(0, ...inside.map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    const letter = range.getBoundingClientRect();
    return Math.max(frame.top - letter.top, letter.bottom - frame.bottom);
  }));
}"""


@pytest.mark.parametrize("page", [LAPTOP], indirect=True)
def test_a_marked_line_of_source_differs_by_its_mark_alone_and_the_menu_is_whole(page):
    open_page(page, "parameters", part="block.attn.query")
    page.locator(".st-key-part-detail summary").click()
    source = page.locator(".st-key-part-detail .mb-source")
    marked = source.locator("tr.mb-marked")
    expect(marked).to_have_count(1)
    expect(marked).to_be_in_viewport()
    other = source.locator("tr:not(.mb-marked)", has_text="self.key = ")
    assert marked.evaluate(ROW) == other.evaluate(ROW)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wait_idle(page)
        grounds = [row.evaluate("row => getComputedStyle(row).backgroundColor") for row in (marked, other)]
        assert grounds[0] != grounds[1]
    names = page.locator('[data-testid="stSidebarNavLink"] span').all()
    assert len(names) > 20
    wide = [name.inner_text() for name in names if name.evaluate("one => one.scrollWidth > one.clientWidth + 1")]
    assert not wide, "names in the menu are cut"


@pytest.mark.parametrize("page", [LAPTOP], indirect=True)
def test_no_formula_is_cut(page):
    open_page(page, "attention", step=3)  # a fraction under a root
    formulas = page.locator(".katex-display")
    assert formulas.count()
    for number in range(formulas.count()):
        assert formulas.nth(number).evaluate(CUT) <= 0, formulas.nth(number).inner_text()


@pytest.mark.release
@pytest.mark.parametrize("page", [LAPTOP], indirect=True)
@pytest.mark.parametrize("name", FIGURES)
def test_the_words_of_figures_are_read(page, name):
    open_page(page, name, **FIGURES[name])
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wait_idle(page)
        told = faint_words(page)
        assert not told, "\n".join([scheme, *told])
