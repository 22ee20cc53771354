"""What a browser test does with a page: open it, wait until it stands still, take a picture.

from tests.browser.driver import expect, open_page, screenshot, wait_idle

def test_a_step_shows(page):
    open_page(page, "attention", text="the dog barked", step=2)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("÷ √D")).to_be_visible()      # wait for what must be there, never for a time
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

expect.set_options(timeout=60_000)  # a server on two busy cores is slow, not wrong; how fast it is is asked elsewhere
MINUTES = 240_000  # milliseconds, for what a training run must bring

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"  # git ignores it

# What is still to come: "" once the script has run to its end, and every element has arrived and drawn itself.
_PENDING = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const state = app?.getAttribute('data-test-script-state'), link = app?.getAttribute('data-test-connection-state');
  if (state !== 'notRunning' || link !== 'CONNECTED') return `script ${state}, connection ${link}`;
  if (window.__unanswered) return 'the server has not answered yet';
  if (window.__timers?.size) return 'something happens in a moment';
  if (!document.querySelector('[data-testid="stMainBlockContainer"] [data-testid="stElementContainer"]'))
    return 'the page is empty';
  for (const unready of ['[data-testid="stSkeleton"]', '[data-stale="true"]', '[data-testid="stSpinner"]',
                         '[data-testid="stPlotlyChart"]:not(:has(svg.main-svg))']) {
    const count = document.querySelectorAll(unready).length;
    if (count) return `${count} × ${unready}`;
  }
  const widths = [...document.querySelectorAll('.stPlotlyChart svg.main-svg')].map(svg => svg.clientWidth).join();
  if (window.__widths !== widths) {  // a window of another size: each figure is drawn anew
    window.__widths = widths;
    return 'the figures change their size';
  }
  return '';
}"""


def open_page(page: Page, name: str = "home", **query) -> Page:
    """Open the page `name` with values in its link, and wait until it is complete; with any, what is asked before an
    answer (ui.predict) is shown."""
    path = "/" if name == "home" else f"/{name}"
    page.goto(path + (f"?{urlencode(query)}" if query else ""))
    wait_idle(page)
    if query:
        show_answers(page)
    return page


def show_answers(page: Page) -> None:
    """Press each *Show it*: what is asked before an answer is asked in every new session."""
    asked = page.locator('[class*="st-key-predict-"] [class*="-show"] button:visible')
    while asked.count():
        asked.first.click()
        wait_idle(page)


def wait_idle(page: Page, timeout: float = 120) -> None:
    """Wait until Streamlit has finished: the script does not run and nothing on the page is still to come.

    After a click, prefer `expect` on what the click must bring: it says what is missing.
    """
    deadline = time.monotonic() + timeout
    calm = 0
    while calm < 3:  # a rerun may start a moment after the last one
        pending = page.evaluate(_PENDING)
        calm = 0 if pending else calm + 1
        assert calm or time.monotonic() < deadline, f"{page.url} is not complete after {timeout} s: {pending}"
        page.wait_for_timeout(50)


def until(page: Page, condition: Callable[[], bool], timeout: float = 60) -> None:
    """Wait for what no locator tells."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"did not come true within {timeout} s"
        page.wait_for_timeout(50)


def screenshot(page: Page, name: str) -> Path:
    """The whole page, not only what is in view, as build/screenshots/<name>.png."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    before = page.viewport_size
    height = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollHeight")
    page.set_viewport_size({"width": before["width"], "height": min(int(height) + 20, 12_000)})
    wait_idle(page)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, timeout=120_000)
    page.set_viewport_size(before)
    return path


_LAPTOP, _PROJECTOR = {"width": 1280, "height": 900}, {"width": 1920, "height": 1080}

# Of each figure: the texts that are drawn, how large they are, and whether they leave it at the sides.
_TEXTS = """charts => charts.map(chart => {
  const frame = chart.getBoundingClientRect();
  return [...chart.querySelectorAll('text')].filter(t => t.getBoundingClientRect().width > 0).map(t => {
    const box = t.getBoundingClientRect();
    const outside = box.left < frame.left - 2 || box.right > frame.right + 2;
    return {text: t.textContent, size: parseFloat(getComputedStyle(t).fontSize), outside};
  });
})"""


def said_above(page: Page, key: str):
    """The title of the figure with this key: text above it. Below one that is drawn anew the old one may stand for a
    moment."""
    return page.locator(f'.mb-finding[data-of="{key}"]').first


def assert_fits(page: Page, name: str) -> None:
    """Nothing is wider than the window; no text of a figure is small or, but for a phone, cut off. Takes a picture,
    but not with pytest-xdist. What a laptop shows is looked at as large as a projector's too: a window that grows costs
    less than another one."""
    _assert_fits(page, name)
    if page.viewport_size == _LAPTOP:
        page.set_viewport_size(_PROJECTOR)
        wait_idle(page)
        _assert_fits(page, f"{name}-projector")
        page.set_viewport_size(_LAPTOP)


def _assert_fits(page: Page, name: str) -> None:
    main = page.get_by_test_id("stMain")
    wide = main.evaluate("e => e.scrollWidth - e.clientWidth")
    assert wide <= 1, f"{wide} px wider than the window"
    assert_words_of_figures(page, name)
    if "PYTEST_XDIST_WORKER" not in os.environ:  # nobody looks at the pictures of a whole run
        screenshot(page, name)


def assert_words_of_figures(page: Page, where: str) -> None:
    """No text of a figure in sight is small or, but for a phone, cut off."""
    charts = page.locator(".stPlotlyChart:visible")
    until(page, lambda: all(charts.evaluate_all(_TEXTS)))  # none is without; one that is drawn anew is for a moment
    for texts in charts.evaluate_all(_TEXTS):
        bad = [text for text in texts if text["size"] < 13.5 or (text["outside"] and page.viewport_size["width"] > 500)]
        assert not bad, f"{where}: {bad}"


def type_into(page: Page, field, text: str, key: str = "Enter") -> None:
    """Type a text, hand it over with `key`, and wait until the page has dealt with it."""
    field.fill(text)
    field.press(key)
    wait_idle(page)
    expect(field).to_have_value(text)


def assert_no_markup(page: Page) -> None:
    """No tag of tests/hostile.py has become an element. (A script that runs fails the test by itself.)"""
    expect(
        page.get_by_test_id("stMain").locator("img[src=x], a[href^='http://example.com'], b:text-is('b')")
    ).to_have_count(0)


def click_point(page: Page, figure: Locator, index: int = 0) -> None:
    """Click the mark `index` of a figure, once the page has stopped moving."""
    wait_idle(page)
    point = figure.locator(".scatterlayer .point").nth(index)
    figure.locator("svg.main-svg").first.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
