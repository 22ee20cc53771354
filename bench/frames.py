"""What the picture of *One sentence through BERT* costs while its tokens rise: a sentence's bytes, frames a second, and
the scripting, style and layout of each frame.

python -m bench.frames [--record]   (needs playwright and a Chromium)

A headless browser renders in software, on the same CPU as everything else: its frame rate says more about the machine
than about our code. The cost of our code is the CPU time per frame, of which there are 16.7 ms at 60 frames a second.
It is Chromium's own count of its thread's time (`tdur` in a trace), which other programs do not lengthen; gaps between
frames and long tasks (50 ms or more) are wall-clock times, which they do lengthen.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page

from bench.app import PATIENT, browser, new_page, open_when_up, until
from bench.machine import arguments, record
from bench.served import server
from minibert.folders import ROOT

PICTURE_FILES = (ROOT / "ui" / "through" / name for name in ("picture.js", "picture.css"))
CODE = sum(file.stat().st_size for file in PICTURE_FILES)
LIMITS = {"bytes a sentence": 150_000, "script a frame, ms": 4.0, "style and layout a frame, ms": 4.0}
SENTENCES = (
    "The keys to the old wooden cabinet were lost in the garden behind the house.",
    "The dog ran after the cat because it was angry.",
)
# The picture is in a shadow root, which `document.querySelector` does not search.
PICTURE = "[...document.querySelectorAll('*')].map((one) => one.shadowRoot?.querySelector('.mb-through')).find(Boolean)"
REST = f"() => {PICTURE}?.querySelector('.answers:not(.away) .answer.blank')"
SAYS = f"words => {PICTURE}?.querySelector('svg').textContent.includes(words)"
SCRIPT, LAYOUT = (
    {"FireAnimationFrame"},
    {"UpdateLayoutTree", "Layout", "PrePaint", "Paint"},
)  # names of a trace's events
WATCH = """() => {
  window.__frames = [];
  window.__long = [];
  const told = new PerformanceObserver((list) => window.__long.push(...list.getEntries().map((one) => one.duration)));
  told.observe({type: 'longtask'});
  const note = (now) => {
    window.__frames.push(now);
    if (window.__frames) requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}"""


class BrowserTrace:
    """What the page's main thread does between `begin` and `end`: Chromium's trace events with names and times."""

    def __init__(self, page: Page):
        self.page, self.session = page, page.context.new_cdp_session(page)
        self.events: list[dict] = []
        self.whole = False
        self.session.on("Tracing.dataCollected", lambda message: self.events.extend(message["value"]))
        self.session.on("Tracing.tracingComplete", lambda _told: setattr(self, "whole", True))

    def begin(self) -> None:
        settings = {"includedCategories": ["devtools.timeline"]}
        self.session.send("Tracing.start", {"traceConfig": settings, "transferMode": "ReportEvents"})

    def end(self) -> None:
        self.session.send("Tracing.end")
        while not self.whole:
            self.page.wait_for_timeout(20)

    def spent(self, names: set[str]) -> list[float]:
        """CPU milliseconds of each event with one of these names."""
        return [event["tdur"] / 1000 for event in self.events if event["name"] in names and "tdur" in event]


def rise(page: Page) -> dict[str, float]:
    """Figures of one animation, in which the tokens rise from the letters to the answers."""
    page.locator(".mb-through svg").focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(2_000)  # the server has answered the key
    trace = BrowserTrace(page)
    page.evaluate(WATCH)
    trace.begin()
    page.locator(".mb-through .play").click()
    page.wait_for_timeout(500)
    until(page, REST)
    frames, long = page.evaluate("() => [window.__frames, window.__long]")
    trace.end()
    gaps = [later - earlier for earlier, later in pairwise(frames)]
    script, drawn = trace.spent(SCRIPT), len(gaps)
    return {
        "frames": drawn,
        "frames a second": round(1000 * drawn / sum(gaps), 1),
        "between two frames, median, ms": round(statistics.median(gaps), 1),
        "longest between two frames, ms": round(max(gaps), 1),
        "script a frame, ms": round(sum(script) / drawn, 2),
        "script of the longest frame, ms": round(max(script), 2),
        "style and layout a frame, ms": round(sum(trace.spent(LAYOUT)) / drawn, 2),
        "long tasks": len(long),
    }


def run(chromium, address: str) -> dict[str, float]:
    page = new_page(chromium, 1280, 800)
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
    open_when_up(page, f"{address}/through?text={SENTENCES[0]}")
    page.wait_for_function(REST, timeout=3 * PATIENT)
    page.wait_for_timeout(3_000)
    found = rise(page)
    received.clear()
    field = page.get_by_role("textbox", name="Your sentence")
    field.fill(SENTENCES[1])
    field.press("Enter")
    until(page, SAYS, "angry")
    page.wait_for_timeout(1_000)
    most = max(received)
    return {
        "bytes a sentence": most - CODE,
        "bytes with the picture's code, which Streamlit sends again": most,
        **found,
        "load of the machine": round(os.getloadavg()[0], 2),
    }


def main() -> None:
    options = arguments(__doc__, "frames")
    options.add_argument("--address", help="of a server that is up already, such as http://127.0.0.1:8501")
    chosen = options.parse_args()
    with ExitStack() as stack:
        chromium = stack.enter_context(browser())
        address = chosen.address
        if address is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            address, _process = stack.enter_context(server(Path(folder, "runs")))
        found = run(chromium, address)
    for name, value in found.items():
        limit = LIMITS.get(name)
        message = "" if limit is None else f"   limit {limit:g}{'' if value <= limit else '   MISSED'}"
        print(f"{name:60} {value:10,.2f}{message}")
    record(chosen.record, {name: {"value": value, "limit": LIMITS.get(name)} for name, value in found.items()})


if __name__ == "__main__":
    main()
