"""The form of a page, measured: its central picture in the first screen, parts that are not long, what is read and
pressed large and plain enough, nothing cut or overprinted; on a laptop, a phone and a projector, light and dark."""

import pytest

from tests.browser.driver import expect, open_page, wait_idle
from tests.server import ROOT

axe_api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs requirements-dev.txt")

LAPTOP, PHONE, PROJECTOR = (
    {"width": 1280, "height": 800},
    {"width": 390, "height": 844},
    {"width": 1920, "height": 1080},
)
WITHOUT_PICTURE = {"examination"}  # its questions are what it shows
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
MOST_SCREENS = {"laptop": 3, "phone": 7}  # of a part in a tab
RULES = ["color-contrast", "target-size", "button-name", "link-name", "label", "image-alt", "aria-allowed-attr"]

# Texts of plotly's figures and of our own pictures that lie over each other, or leave what they stand in.
_OVERPRINTED = """() => [...document.querySelectorAll('.stPlotlyChart, .st-key-picture svg')].flatMap(chart => {
  const texts = [...chart.querySelectorAll('text')]
    .filter(t => t.textContent.trim() && t.checkVisibility({opacityProperty: true}))
    .map(t => ({text: t.textContent, box: t.getBoundingClientRect()})).filter(t => t.box.width > 0);
  return texts.flatMap((a, i) => texts.slice(i + 1).filter(b => {
    const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
    const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    return wide > 3 && high > 0.5 * Math.min(a.box.height, b.box.height);
  }).map(b => `${a.text} / ${b.text}`));
})"""


def in_view(page) -> tuple[float, float]:
    """Where the central picture begins, and how many pixels of it stand in the first screen."""
    picture = page.locator(".st-key-picture")
    expect(picture).to_have_count(1)
    box = picture.bounding_box()
    return box["y"], min(box["y"] + box["height"], page.viewport_size["height"]) - box["y"]


def assert_readable(page) -> None:
    found = axe_api.Axe().run(page, options={"runOnly": RULES}).response["violations"]
    told = [
        f"{rule['id']}: {node['html'][:120]} – {(node['any'] or [{}])[0].get('message', '')}"
        for rule in found
        for node in rule["nodes"]
    ]
    assert not told, "\n".join(told)


def assert_parts_are_short(page, screen: str) -> None:
    most = MOST_SCREENS[screen] * page.viewport_size["height"]
    for number in range(page.locator(".st-key-part [role=tab]").count()):
        tab = page.locator(".st-key-part [role=tab]").nth(number)
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        wait_idle(page)
        height = page.locator(".st-key-part [role=tabpanel]:visible").first.bounding_box()["height"]
        assert height <= most, f"{tab.inner_text()}: {height:.0f} px on a {screen}, at most {most}"


@pytest.mark.parametrize("page", [{"viewport": LAPTOP, "reduced_motion": "reduce"}], indirect=True)
@pytest.mark.parametrize("name", PAGES)
def test_on_a_laptop_and_a_phone(page, name):
    open_page(page, name)
    if name not in WITHOUT_PICTURE:
        top, seen = in_view(page)
        assert top <= 400 and seen >= 330, f"the picture begins at {top:.0f} px; {seen:.0f} px of it are in view"
    assert_readable(page)
    assert page.evaluate(_OVERPRINTED) == []
    page.emulate_media(color_scheme="dark")
    wait_idle(page)
    assert_readable(page)
    page.emulate_media(color_scheme="light")
    assert_parts_are_short(page, "laptop")
    page.set_viewport_size(PHONE)
    wait_idle(page)
    wide = page.get_by_test_id("stMain").evaluate("e => e.scrollWidth - e.clientWidth")
    assert wide <= 1, f"{wide} px wider than a phone"
    assert_parts_are_short(page, "phone")


@pytest.mark.parametrize("page", [{"viewport": PROJECTOR}], indirect=True)
@pytest.mark.parametrize("name", sorted(set(PAGES) - WITHOUT_PICTURE))
def test_on_a_projector(page, name):
    open_page(page, name, projector=1)
    _, before = in_view(page)
    assert before >= 500, f"{before:.0f} px of the picture are in view"
    assert page.evaluate(_OVERPRINTED) == []
