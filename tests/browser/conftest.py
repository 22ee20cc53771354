"""A real browser and a real server for the tests in this folder.

`page` is a browser's window that remembers nothing (1280 × 900, light). For another, parametrize it indirectly:
`@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)`.
After each test it is checked that no request left for another host, that no exception was shown at any time, that no
script of a page failed, and that none of tests/hostile.py ran. What a test does with a page is in driver.py.
"""

import shutil
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.server import fresh_server

playwright_api = pytest.importorskip(
    "playwright.sync_api", reason="browser tests need playwright (requirements-dev.txt)"
)

CHROMIUM = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESK = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light", "reduced_motion": "no-preference"}
REMEMBERED = "cookies,local_storage,indexeddb,service_workers,cache_storage"  # of a visitor; scripts stay in the cache
# Runs in every page before its own scripts: notes each exception that Streamlit shows, however briefly, and whether the
# page has told the server something that the server has not answered, or is about to (a slider waits 200 ms, a
# player 300).
WATCH = """
window.__exceptions = [];
new MutationObserver(() => {
  for (const box of document.querySelectorAll('[data-testid="stException"]'))
    if (!window.__exceptions.includes(box.innerText)) window.__exceptions.push(box.innerText);
}).observe(document, {childList: true, subtree: true});
window.__unanswered = false;
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  if (!this.__heard) this.addEventListener('message', this.__heard = () => window.__unanswered = false);
  window.__unanswered = true;
  return send.call(this, data);
};
window.__timers = new Set();
const {setTimeout: later, clearTimeout: never} = window;
window.setTimeout = (run, delay, ...rest) => {
  if (typeof run !== 'function' || delay > 300) return later(run, delay, ...rest);
  const id = later((...all) => { window.__timers.delete(id); run(...all); }, delay, ...rest);
  window.__timers.add(id);
  return id;
};
window.clearTimeout = (id) => { window.__timers.delete(id); never(id); };
"""


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")  # what it takes, gigabytes, is not held while other folders are tested
def server(tmp_path_factory):
    """The address of the app, started for these tests with folders of its own; one a worker of pytest-xdist."""
    with fresh_server(tmp_path_factory.mktemp("server")) as address:
        yield address


# The first is the others' engine without menus and tabs, which nobody sees here.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="package")
def chromium():
    """Launcher and options of the machine's own Chromium, else of the one playwright has installed."""
    with playwright_api.sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        if found is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("browser tests need chromium: playwright install chromium")
        yield playwright.chromium, {"executable_path": found, "args": CHROMIUM}


@pytest.fixture(scope="package")
def browser(chromium):
    """For who needs windows of a second person."""
    launcher, options = chromium
    browser = launcher.launch(**options)
    yield browser
    browser.close()


@pytest.fixture(scope="package")
def profile(chromium, server, tmp_path_factory):
    """One person's browser, which keeps what it has loaded and compiled: a page opens sooner."""
    launcher, options = chromium
    context = launcher.launch_persistent_context(
        tmp_path_factory.mktemp("profile"), base_url=server, locale="en-US", **options
    )
    context.set_default_timeout(60_000)
    context.add_init_script(WATCH)
    yield context
    context.close()


def stop_runs(window) -> None:
    """What the test has begun does not learn on beside the next ones."""
    stop = window.locator(".st-key-run-states").get_by_role("button", name="Stop", exact=True).filter(visible=True)
    with suppress(playwright_api.Error, AssertionError):  # each goes away a moment after it was pressed, or by itself
        while not window.is_closed() and (left := stop.count()):
            stop.first.click(timeout=5_000)
            playwright_api.expect(stop).not_to_have_count(left, timeout=20_000)


def empty_window(context, server: str):
    """The person's one window, as if nobody had used it. It is not another one because a window that has shown a page
    opens the next in half the processor's time."""
    window = context.pages[0]
    try:
        window.goto("about:blank")
    except playwright_api.Error:  # it crashed
        window = context.new_page()
    for one in context.pages:
        if one is not window:
            one.close()
    session = context.new_cdp_session(window)
    session.send("Storage.clearDataForOrigin", {"origin": server, "storageTypes": REMEMBERED})
    session.detach()
    window.mouse.move(0, 0)
    return window


@pytest.fixture
def page(request, profile, server):
    """A browser window at the server, as of somebody who was never here; what is checked after each test stands at the
    top."""
    options = DESK | getattr(request, "param", {})
    here = urlsplit(server).netloc
    strangers: list[str] = []
    errors: list[str] = []
    dialogs: list[str] = []

    def note(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != here:
            strangers.append(url)

    def note_dialog(dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    window = empty_window(profile, server)
    listeners = (
        (profile, "request", lambda sent: note(sent.url)),  # of every window
        (window, "websocket", lambda socket: note(socket.url)),
        (window, "pageerror", lambda error: errors.append(str(error))),
        (window, "dialog", note_dialog),
    )
    for source, event, listener in listeners:
        source.on(event, listener)
    window.set_viewport_size(options["viewport"])
    window.emulate_media(color_scheme=options["color_scheme"], reduced_motion=options["reduced_motion"])
    yield window
    stop_runs(window)
    shown = window.evaluate("window.__exceptions ?? []") if not window.is_closed() else []
    for source, event, listener in listeners:
        source.remove_listener(event, listener)
    assert not strangers, f"requests left this machine: {strangers}"
    assert not shown, f"the page showed an exception: {shown}"
    assert not errors, f"a script of the page failed: {errors}"
    assert not dialogs, f"a script that was typed ran: {dialogs}"
