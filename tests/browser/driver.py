"""What a browser test does with a page: open it, wait until it stands still, take a picture.

from tests.browser.driver import expect, open_page, screenshot, wait_idle

def test_a_step_shows(page):
    open_page(page, "attention", text="the dog barked", step=2)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("÷ √D")).to_be_visible()      # wait for what must be there, never for a time
"""

import time
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

__all__ = ["expect", "open_page", "screenshot", "wait_idle"]

expect.set_options(timeout=20_000)  # a server on two busy cores is slow, not wrong; how fast it is is asked elsewhere

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"  # git ignores it

# What is still to come: "" once the script has run to its end, and every element has arrived and drawn itself.
_PENDING = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const state = app?.getAttribute('data-test-script-state'), link = app?.getAttribute('data-test-connection-state');
  if (state !== 'notRunning' || link !== 'CONNECTED') return `script ${state}, connection ${link}`;
  if (!document.querySelector('[data-testid="stMainBlockContainer"] [data-testid="stElementContainer"]'))
    return 'the page is empty';
  for (const unready of ['[data-testid="stSkeleton"]', '[data-stale="true"]', '[data-testid="stSpinner"]',
                         '[data-testid="stPlotlyChart"]:not(:has(svg.main-svg))']) {
    const count = document.querySelectorAll(unready).length;
    if (count) return `${count} × ${unready}`;
  }
  return '';
}"""


def open_page(page: Page, name: str = "home", **query) -> Page:
    """Open the page `name` with values in its link, and wait until it is complete."""
    path = "/" if name == "home" else f"/{name}"
    page.goto(path + (f"?{urlencode(query)}" if query else ""))
    wait_idle(page)
    return page


def wait_idle(page: Page, timeout: float = 120) -> None:
    """Wait until Streamlit has finished: the script does not run and nothing on the page is still to come.

    After a click, prefer `expect` on what the click must bring: the click may not have reached the server yet.
    """
    deadline = time.monotonic() + timeout
    calm = 0
    while calm < 3:  # a rerun may start a moment after the last one ended
        pending = page.evaluate(_PENDING)
        calm = 0 if pending else calm + 1
        assert calm or time.monotonic() < deadline, f"{page.url} is not complete after {timeout} s: {pending}"
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
