"""How long a learner waits: first visits of all pages; server start to Home, page changes, a step, a training run's
first point and end, a stop.

python -m bench.app [first-visits] [waits] [--record]   (needs playwright and a Chromium)

Each time is measured in a browser: from the click until its result is on screen. The project's limits are printed
beside the figures.

first-visits: on a server just started, every page by its address in a new browser context until it rests, then every
page again; and beside it, in the same way, two pages of Streamlit's: one line of text; and that line with a figure of
plotly's, whose three megabytes a new browser compiles before it draws. A page rests when its script has ended, nothing
is stale, and nothing stands in for what is still to come. Processor seconds are those of all processes of the server.
"""

from __future__ import annotations

import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, expect, sync_playwright

from bench.machine import arguments, record
from bench.served import pages, processor_seconds, server, until_up

# figure → limit in seconds on two cores
LIMITS = {
    "server start to Home readable": 4.0,
    "Home: another word hidden, all answers there": 0.3,
    "change of page, first visit": 1.0,
    "change of page, visited before": 1.0,
    "a step: marked, its text there": 0.3,
    "a step: its pictures drawn, all at rest": 0.3,
    "first point of a curve, a server's first run": 3.0,
    "first point of a curve, clicked as soon as a new server's page is there": 3.0,
    "first point of a curve, later": 3.0,
    "three epochs on the reviews": 60.0,
    "a stop": 1.0,
}
PAGES = ("Tokenization", "Input", "Attention", "Parameters", "Masking", "One output layer")  # titles, as in the menu
PATIENT = 60_000  # milliseconds
# Conditions are checked at every frame: Playwright's own `expect` checks only at 0.1, 0.35, 0.85, 1.85 seconds.
TITLE = """words => [...document.querySelectorAll('h1')].some(
  title => title.offsetParent && title.innerText.toLowerCase().includes(words.toLowerCase()))"""
POINT = """() => document.querySelector('[class*="st-key-curves"] .scatterlayer .point')?.getBBox().width"""
NO_POINT = """() => !document.querySelector('[class*="st-key-curves"] .scatterlayer .point')"""
STOPS = """count => document.querySelectorAll('[class*="st-key-stop-"] button').length === count"""
ANSWERS = "() => document.querySelector('.st-key-first-minute .mb-models').innerText"
ANSWERED = "() => document.querySelector('.st-key-first-minute .mb-models:not([aria-busy])')"
OTHER_ANSWERS = "before => document.querySelector('.st-key-first-minute .mb-models')?.innerText !== before"
# The step's button is highlighted, and its explanation has replaced the previous one …
STEP_SHOWN = r"""([step, before]) => {
  const steps = document.querySelector('[class*="st-key-stepper"]')
  const said = steps.parentElement.parentElement.querySelectorAll('[data-testid="stMarkdown"]')
  window.said = [...said].map(one => one.innerText).join("\n")
  return steps.querySelector('[data-testid="stBaseButton-primary"]')?.innerText.startsWith(`${step}.`)
    && window.said && window.said !== before
}"""
# … and nothing on the page is left from the previous step, for so many milliseconds: then since when.
AT_REST = """calm => {
  const busy = '[data-stale="true"], [data-testid="stSkeleton"], [data-testid="stSpinner"], [aria-busy="true"]'
  const running = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== 'notRunning'
  if (running || !document.querySelector('[data-testid="stMarkdown"]') || document.querySelector(busy)) {
    window.restsSince = undefined
    return false
  }
  window.restsSince ??= performance.now()
  return performance.now() - window.restsSince >= calm && window.restsSince
}"""
CALM = 600  # milliseconds of rest after which a visited page is taken to be complete
LINE = "import streamlit as st\n\nst.write('One line.')\n"
PLAIN = {
    "an empty page": LINE,
    "a page with one figure": LINE + "st.plotly_chart({'data': [{'type': 'bar', 'y': [1, 2, 3]}]})\n",
}
PLAIN_VISITS = 5
OVER_PLAIN = 1.0  # limit in seconds of what a page takes longer than the one with a figure


@contextmanager
def browser() -> Iterator[Browser]:
    """A new headless Chromium."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        yield chromium
        chromium.close()


def new_page(chromium: Browser, width: int = 1440, height: int = 900) -> Page:
    return chromium.new_context(viewport={"width": width, "height": height}, locale="en-US").new_page()


def open_when_up(page: Page, address: str) -> None:
    for _ in range(1000):
        try:
            page.goto(address)
            return
        except Exception:  # not listening yet
            time.sleep(0.02)
    raise RuntimeError("the server did not start")


def until(page: Page, condition: str, arg: object = None) -> None:
    page.wait_for_function(condition, arg=arg, polling="raf", timeout=PATIENT)


def seconds(page: Page, action: Callable[[], None], condition: str, arg: object = None) -> float:
    started = time.perf_counter()
    action()
    until(page, condition, arg)
    return time.perf_counter() - started


def tour(page: Page) -> list[float]:
    """Seconds for each page, from the click in the menu until its title is there."""
    waits = []
    for title in PAGES:
        menu = page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True)
        waits.append(seconds(page, menu.click, TITLE, title))
        page.wait_for_timeout(2_000)  # a user's pace: do not click while the page is still drawing
    return waits


def another_blank(page: Page, word: int) -> float:
    """On Home, once its models are loaded: seconds from a click on a word until the new answers are there."""
    until(page, ANSWERED)
    page.wait_for_timeout(1_000)
    before = page.evaluate(ANSWERS)
    return seconds(page, page.locator(f".st-key-hide-{word} button").click, OTHER_ANSWERS, before)


def first_point(page: Page) -> float:
    return seconds(page, page.get_by_role("button", name=re.compile("^.*Train 2 models")).click, POINT)


def waits(chromium: Browser) -> dict[str, dict]:
    """Every figure of LIMITS."""
    waits: dict[str, float] = {}
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, server(Path(folder, "runs")) as (address, _process):
        page = new_page(chromium)
        open_when_up(page, address)
        until(page, TITLE, "")
        waits["server start to Home readable"] = time.perf_counter() - started
        page.wait_for_timeout(10_000)
        waits["Home: another word hidden, all answers there"] = max(another_blank(page, n) for n in range(1, 6))
        waits["change of page, first visit"] = max(tour(page))
        waits["change of page, visited before"] = max(tour(page))
        page.goto(f"{address}/attention")
        step = page.get_by_role("button", name="Next")
        expect(step.first).to_be_visible(timeout=PATIENT)
        page.wait_for_timeout(5_000)
        shown, drawn = [], []
        for number in range(2, 7):
            before = page.evaluate("window.said")
            step.first.hover()  # the pointer rests on the button before the click
            page.wait_for_timeout(300)
            clicked = time.perf_counter()
            page.mouse.down()
            page.mouse.up()
            until(page, STEP_SHOWN, [number, before])
            shown.append(time.perf_counter() - clicked)
            until(page, AT_REST, 0)
            drawn.append(time.perf_counter() - clicked)
            page.wait_for_timeout(1_500)
        waits["a step: marked, its text there"] = max(shown)
        waits["a step: its pictures drawn, all at rest"] = max(drawn)
    with lesson_of_a_new_server(chromium) as page:
        page.wait_for_timeout(10_000)  # a user's pace
        clicked = time.perf_counter()
        waits["first point of a curve, a server's first run"] = first_point(page)
        until(page, STOPS, 0)
        waits["three epochs on the reviews"] = time.perf_counter() - clicked
        page.get_by_role("slider", name="Epochs").press("End")
        page.wait_for_timeout(2_000)
        waits["first point of a curve, later"] = again(page)
        until(page, STOPS, 2)
        stop = page.locator('[class*="st-key-stop-"] button').first
        waits["a stop"] = seconds(page, stop.click, STOPS, 1)
    with lesson_of_a_new_server(chromium) as page:
        waits["first point of a curve, clicked as soon as a new server's page is there"] = first_point(page)
    for name, limit in LIMITS.items():
        print(f"{name:72} {waits[name]:6.2f} s   limit {limit:g} s{'' if waits[name] <= limit else '   MISSED'}")
    return {name: {"seconds": round(waits[name], 2), "limit": limit} for name, limit in LIMITS.items()}


@contextmanager
def lesson_of_a_new_server(chromium) -> Iterator[Page]:
    """The first page opened on a new server: fine-tuning on the reviews, three epochs, one seed."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder, "runs")) as (address, _process):
        page = new_page(chromium)
        open_when_up(page, f"{address}/output_layer?data=reviews&model=mini-en")
        page.get_by_role("slider", name="Seeds").press("Home")
        expect(page.get_by_role("button", name=re.compile("Train 2 models"))).to_be_enabled(timeout=PATIENT)
        page.get_by_role("button", name="The paper’s values").click()  # three epochs
        expect(page.get_by_role("button", name="The paper’s values")).to_be_disabled(timeout=PATIENT)
        yield page


def again(page: Page) -> float:
    """Train a second time: seconds until the new runs replace the old ones, plus seconds until their first point."""
    train = page.get_by_role("button", name=re.compile("^.*Train 2 models"))
    return seconds(page, train.click, NO_POINT) + seconds(page, lambda: None, POINT)


def visit(chromium: Browser, address: str, process: psutil.Process) -> tuple[float, float]:
    """Open an address in a new browser context → seconds until the page rests, processor seconds of the server."""
    page, before = new_page(chromium, 1280, 800), processor_seconds(process)
    page.goto(address, wait_until="commit")
    rests = page.wait_for_function(AT_REST, arg=CALM, polling="raf", timeout=2 * PATIENT).json_value()
    computed = processor_seconds(process) - before
    page.context.close()
    return rests / 1000, computed


def first_visits(chromium: Browser) -> dict[str, dict]:
    """Every page twice on a new server, beside two plain pages."""
    found: dict[str, dict] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name, code in PLAIN.items():
            (folder / "plain.py").write_text(code, encoding="utf-8")
            with server(folder / "runs", folder / "plain.py") as (address, process):
                until_up(address, process)
                plain = statistics.median(visit(chromium, address, process)[0] for _ in range(PLAIN_VISITS))
            found[name] = {"seconds": round(plain, 2)}
            print(f"{name:22} {plain:6.2f} s", flush=True)
        address, process = stack.enter_context(server(folder / "runs"))
        until_up(address, process)
        visits: dict[str, list[tuple[float, float]]] = {page or "home": [] for page in pages()}
        for _round in range(2):
            for page, measured in visits.items():
                measured.append(visit(chromium, f"{address}/{page if page != 'home' else ''}", process))
                seconds, computed = measured[-1]
                print(f"{page:22} {seconds:6.2f} s {computed:6.2f} processor seconds", flush=True)
    limit = plain + OVER_PLAIN
    for number, which in enumerate(("first", "second")):
        waited, computed = zip(*(measured[number] for measured in visits.values()), strict=True)
        median, over = statistics.median(waited), sum(wait > limit for wait in waited)
        used, missed = statistics.median(computed), f"   MISSED by {over} of {len(waited)}" if over else ""
        print(f"{which} visit: median {median:.2f} s, {used:.2f} processor seconds   limit {limit:.2f} s{missed}")
        found[f"median, {which} visit"] = {
            "seconds": round(median, 2),
            "processor seconds": round(used, 2),
            "limit": round(limit, 2),
            "pages over it": over,
        }
    for page, measured in visits.items():
        found[page] = {
            which: {"seconds": round(seconds, 2), "processor seconds": round(computed, 2)}
            for which, (seconds, computed) in zip(("first", "second"), measured, strict=True)
        }
    return found


def main() -> None:
    parts = {"first-visits": (first_visits, "first-visits"), "waits": (waits, "app")}  # and the names of their results
    parser = arguments(__doc__, "app")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(parts)} (default: all)")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(parts):
        parser.error(f"no such part: {', '.join(unknown)}")
    with browser() as chromium:
        for part in chosen.parts or parts:
            measure, name = parts[part]
            record(chosen.record and name, measure(chromium))


if __name__ == "__main__":
    main()
