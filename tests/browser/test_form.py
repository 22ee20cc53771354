"""The form of a page, measured: its central picture in the first screen, parts that are not long, what is read and
pressed large and plain enough, nothing cut or overprinted; on a laptop, a phone and a projector, light and dark.

The default run opens each page once: its first part on a laptop, on a wall and on a phone. The release run adds all
parts, on a laptop in light and on a phone in dark, projector mode, with a few crowded parts, and states that only a
link opens. What you change in a part: pytest -m "" tests/browser/test_form.py -k NAME_OF_THE_PAGE
"""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.browser.driver import (
    MINUTES,
    assert_fits,
    assert_words_of_figures,
    expect,
    open_page,
    show_answers,
    wait_idle,
)
from tests.browser.states import STATES
from tests.server import ROOT
from tests.waiting import until

axe_api = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs requirements-dev.txt")

LAPTOP, PHONE, PROJECTOR, OLD_PROJECTOR = (
    {"width": 1280, "height": 800},
    {"width": 390, "height": 844},
    {"width": 1920, "height": 1080},
    {"width": 1280, "height": 720},
)
NO_LESSON = {"classroom"}  # shut without a key: tests/browser/test_browser_classroom.py
WITHOUT_PICTURE = {"examination"}  # its questions are what it shows
REACHES_BELOW = {"albert", "features"}  # their first figure ends below an old projector's first screen
TABS_IN_A_LOW_ROOM = {"masking", "experiments", "pretraining"}  # pages whose parts are chosen in the first screen there
CROWDED = [
    ("attention", {"part": "Break it"}),
    ("parameters", {"view": "Memory"}),
    ("to_write", {"part": "BERT"}),
    ("to_write", {"part": "BART"}),
]
PAGES = sorted({path.stem for path in (ROOT / "pages").glob("*.py")} - NO_LESSON)
MOST_SCREENS = {"laptop": 3, "phone": 7}  # of a part in a tab
TABS, PANEL = (f".st-key-part [role={role}]" for role in ("tab", "tabpanel"))
BEGINS = 500  # pixels: above them a picture begins on a phone, which has 844
RULES = ["color-contrast", "target-size", "button-name", "link-name", "label", "image-alt", "aria-allowed-attr"]
AXE = axe_api.Axe()
# Whether an entry of the menu is on top at its upper and at its lower edge.
UNCOVERED = """entry => {
  const box = entry.getBoundingClientRect();
  return [box.top + 4, box.bottom - 4].every((y) => entry.contains(document.elementFromPoint(box.left + 40, y)));
}"""
CUT_OR_OVERPRINTED, READABLE = (
    Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8") for name in ("form", "readable")
)


def in_view(page) -> tuple[float, float]:
    """Where the central picture begins, and how many pixels of it stand in the first screen."""
    picture = page.locator(".st-key-picture")
    expect(picture).to_have_count(1)
    box = picture.bounding_box()
    return box["y"], min(box["y"] + box["height"], page.viewport_size["height"]) - box["y"]


def assert_begins(page, lowest: float, least: float) -> None:
    """The picture begins at `lowest` pixels or above, and is in view whole or by `least` pixels."""
    top, seen = in_view(page)
    enough = min(least, page.locator(".st-key-picture").bounding_box()["height"] - 1)
    assert top <= lowest and seen >= enough, f"the picture begins at {top:.0f} px; {seen:.0f} px of it are in view"


def assert_in_a_low_room(page, name: str) -> None:
    """On an old projector the picture begins high enough, and is whole or has most of the first screen; there stand
    what plays or steps it, and its first figure, whole."""
    assert_begins(page, 320, 400)
    picture = page.locator(".st-key-picture")
    shown = [one for one in picture.locator(".way, [class*=st-key-stepper-]").all() if one.is_visible()]
    if name not in REACHES_BELOW:
        shown += picture.locator(".stPlotlyChart, svg[role=img]").all()[:1]
    for one in shown:
        box, low = one.bounding_box(), page.viewport_size["height"]
        foot = box["y"] + box["height"]
        assert foot <= low, f"{one.get_attribute('class')} ends at {foot:.0f} px, below {low}"


def assert_readable(page, where: str, within: str) -> None:
    """Contrast, the size of what is pressed (24 px), and names, by axe-core."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    options = {"runOnly": RULES, "resultTypes": ["violations"]}
    found = page.evaluate(READABLE, [within, options])
    told = [
        f"{where}: {rule['id']}: {node['html'][:120]} – {(node['any'] or [{}])[0].get('message', '')}"
        for rule in found
        for node in rule["nodes"]
    ]
    assert not told, "\n".join(told)


def assert_whole(page, where: str) -> None:
    told: list[str] = []

    def whole() -> bool:
        told[:] = page.evaluate(CUT_OR_OVERPRINTED)
        return not told

    with suppress(AssertionError):  # a figure that stood in a closed part takes its new width a moment later
        until(whole, seconds=15)
    assert not told, f"{where}: " + "; ".join(told)


def assert_looks(page, where: str, within: str = "html") -> None:
    """within: where it is looked how readable things are."""
    assert_whole(page, where)
    assert_words_of_figures(page, where)
    assert_readable(page, where, within)


def assert_parts(page, screen: str) -> None:
    """Every part is short and readable, and nothing in it is cut."""
    most = MOST_SCREENS[screen] * page.viewport_size["height"]
    tabs = page.locator(TABS)
    for number in range(tabs.count()):
        tab = tabs.nth(number)
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        wait_idle(page, MINUTES / 1_000)  # a part may begin with a computation, as the ranking of all heads
        where = f"{tab.inner_text()}, on a {screen}"
        height = page.locator(f"{PANEL}:visible").first.bounding_box()["height"]
        assert height <= most, f"{where}: {height:.0f} px, at most {most}"
        assert_looks(page, where, f"{PANEL}:not([hidden])" if number else "html")  # what stands around it has been seen
    if not tabs.count():
        assert_looks(page, screen)


def assert_at_the_top(page) -> None:
    """The title is not under a button of the bar above it."""
    title = page.locator(".stMainBlockContainer h1").bounding_box()
    for button in page.locator(".stAppHeader button:visible").all():
        box = button.bounding_box()
        apart = box["x"] + box["width"] <= title["x"] or box["x"] >= title["x"] + title["width"]
        assert apart or box["y"] + box["height"] <= title["y"], "the title is under a button at the top"


def assert_menu_shows_the_page(page) -> None:
    """The open page's entry in the menu is in view, and nothing of the menu's foot lies over it."""
    expect(page.get_by_test_id("stSidebarNav")).to_be_visible()
    opened = page.locator('[data-testid="stSidebarNavLink"][aria-current="page"]')
    for entry in opened.all():  # a page that the menu does not list has none
        until(lambda entry=entry: entry.evaluate(UNCOVERED), seconds=15)


def assert_on_another_screen(page, size: dict[str, int], where: str) -> None:
    """The part in view, in a window of this size."""
    page.set_viewport_size(size)
    wait_idle(page)
    assert_fits(page, where)
    assert_whole(page, where)


@pytest.mark.parametrize("page", [{"viewport": LAPTOP, "reduced_motion": "reduce"}], indirect=True)
@pytest.mark.parametrize("name", PAGES)
def test_the_first_part_on_every_screen(page, name):
    open_page(page, name)
    if name not in WITHOUT_PICTURE:
        top, seen = in_view(page)
        assert top <= 400 and seen >= 330, f"the picture begins at {top:.0f} px; {seen:.0f} px of it are in view"
    assert_menu_shows_the_page(page)
    # The menu and the bar at the top are those of every page: axe looks at them on one.
    assert_looks(page, "on a laptop", "html" if name == "home" else ".stMain")
    assert_on_another_screen(page, PROJECTOR, "on a projector")
    assert_on_another_screen(page, PHONE, "on a phone")
    if name not in WITHOUT_PICTURE:
        top, _ = in_view(page)
        assert top <= BEGINS, f"the picture begins at {top:.0f} px on a phone"


@pytest.mark.release
@pytest.mark.parametrize("page", [{"viewport": LAPTOP, "reduced_motion": "reduce"}], indirect=True)
@pytest.mark.parametrize("name", PAGES)
def test_every_part_on_a_laptop_and_on_a_phone_in_dark(page, name):
    open_page(page, name)
    assert_parts(page, "laptop")
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    wait_idle(page)
    assert_fits(page, f"phone-{name}")
    assert_parts(page, "phone")


@pytest.mark.release
@pytest.mark.parametrize("page", [{"viewport": OLD_PROJECTOR, "reduced_motion": "reduce"}], indirect=True)
@pytest.mark.parametrize("name", [*PAGES, *NO_LESSON])
def test_in_projector_mode(page, name):
    page.goto(f"/{'' if name == 'home' else name}?projector=1")
    wait_idle(page)
    has_picture = name not in WITHOUT_PICTURE | NO_LESSON
    if has_picture:
        assert_in_a_low_room(page, name)
    if name in TABS_IN_A_LOW_ROOM:
        box = page.locator(TABS).first.bounding_box()
        assert box["y"] + box["height"] <= OLD_PROJECTOR["height"], f"the tabs end at {box['y'] + box['height']:.0f} px"
    show_answers(page)
    if has_picture:
        assert_in_a_low_room(page, name)
    assert_at_the_top(page)
    assert_on_another_screen(page, OLD_PROJECTOR, f"projector-{name}-old")
    page.set_viewport_size(PROJECTOR)
    wait_idle(page)
    if has_picture:
        assert_begins(page, 400, 500)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wait_idle(page)
        assert_looks(page, f"on a wall, {scheme}")
    assert_at_the_top(page)
    assert_fits(page, f"projector-{name}")
    page.set_viewport_size(OLD_PROJECTOR)
    page.get_by_test_id("stExpandSidebarButton").click()
    assert_menu_shows_the_page(page)


@pytest.mark.release
@pytest.mark.parametrize("page", [{"viewport": OLD_PROJECTOR, "reduced_motion": "reduce"}], indirect=True)
@pytest.mark.parametrize(("name", "query"), CROWDED, ids=lambda one: one if isinstance(one, str) else "-".join(one))
def test_a_crowded_part_in_projector_mode(page, name, query):
    open_page(page, name, projector=1, **query)
    for size, where in ((OLD_PROJECTOR, "old"), (PROJECTOR, "wall")):
        assert_on_another_screen(page, size, f"projector-{name}-{'-'.join(query.values())}-{where}")


@pytest.mark.release
@pytest.mark.parametrize("page", [{"viewport": LAPTOP, "reduced_motion": "reduce"}], indirect=True)
@pytest.mark.parametrize(("name", "query"), STATES, ids=lambda one: one if isinstance(one, str) else "-".join(one))
def test_states_that_only_a_link_opens(page, name, query):
    open_page(page, name, **query)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wait_idle(page)
        assert_looks(page, f"on a laptop, {scheme}")
    assert_on_another_screen(page, PHONE, "on a phone")
