"""What the picture of *One sentence through BERT* costs while its tokens rise: a sentence's bytes, frames a second, and
the scripting, style and layout of each frame.

python -m bench.frames [--record]   (needs playwright and a Chromium)

A headless browser draws in software, on the processors that everything else is on: how many frames it draws says more
about the machine than about our code. What our code costs is its time in a frame, of which there are 16.7 ms at 60 a
second; a frame over SLOW ms of script is named. The scripting is Chromium's own count (Performance.getMetrics), the
longest frame is told by our own frames' callbacks, a long task (50 ms or more) by the browser.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import CDPSession, Page

from bench.app import PATIENT, browser, open_when_up, server, until
from bench.machine import record

LIMITS = {"bytes a sentence": 150_000, "script a frame, ms": 4.0, "style and layout a frame, ms": 4.0}
SENTENCES = (
    "The keys to the old wooden cabinet were lost in the garden behind the house.",
    "The dog ran after the cat because it was angry.",
)
REST = "() => document.querySelector('.mb-through .answers') && !document.querySelector('.mb-through .answers.away')"
ANSWERED = "() => document.querySelector('.mb-through .answer.blank')"
SAYS = "words => document.querySelector('.mb-through .letters')?.parentElement.textContent.includes(words)"
COUNTED = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration", "TaskDuration")
# From before the first frame of ours: when each frame begins, how long its callbacks take, and long tasks.
WATCH = """() => {
  const frames = window.__frames = [], costs = window.__costs = [], long = window.__long = [];
  window.__watching = true;
  const told = new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)));
  told.observe({type: 'longtask'});
  const ask = window.requestAnimationFrame;
  window.requestAnimationFrame = (then) => ask.call(window, (now) => {
    const begun = performance.now();
    then(now);
    if (window.__watching && then !== note) costs.push(performance.now() - begun);
  });
  const note = (now) => {
    frames.push(now);
    if (window.__watching) ask.call(window, note);
  };
  ask.call(window, note);
}"""


def metrics(session: CDPSession) -> dict[str, float]:
    found = session.send("Performance.getMetrics")["metrics"]
    return {one["name"]: 1000 * one["value"] for one in found if one["name"] in COUNTED}


def rise(page: Page, session: CDPSession) -> dict[str, float]:
    """The tokens rise once from the letters to the answers."""
    page.locator(".mb-through svg").focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(1_500)  # what is told to the server is answered
    page.evaluate(WATCH)
    before = metrics(session)
    page.locator(".mb-through .play").click()
    page.wait_for_timeout(500)
    until(page, REST)
    after = metrics(session)
    page.evaluate("() => { window.__watching = false }")
    frames, costs, long = (page.evaluate(f"() => window.{name}") for name in ("__frames", "__costs", "__long"))
    gaps = [b - a for a, b in pairwise(frames)]
    spent = {name: after[name] - before[name] for name in COUNTED}
    drawn = len(gaps)
    return {
        "frames": drawn,
        "frames a second": round(1000 * drawn / sum(gaps), 1),
        "longest between two frames, ms": round(max(gaps), 1),
        "script a frame, ms": round(spent["ScriptDuration"] / drawn, 2),
        "style and layout a frame, ms": round((spent["RecalcStyleDuration"] + spent["LayoutDuration"]) / drawn, 2),
        "all of the page's own thread a frame, ms": round(spent["TaskDuration"] / drawn, 2),
        "our callbacks a frame, median, ms": round(statistics.median(costs), 2),
        "our callbacks a frame, longest, ms": round(max(costs), 2),
        "long tasks": len(long),
    }


def run(chromium) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, server(Path(folder, "runs")) as (address, _started):
        page = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-US").new_page()
        received: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
        open_when_up(page, f"{address}/through?text={SENTENCES[0]}")
        page.wait_for_function(ANSWERED, timeout=2 * PATIENT)
        until(page, REST)
        page.wait_for_timeout(3_000)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        found = rise(page, session)
        received.clear()
        field = page.get_by_role("textbox", name="Your sentence")
        field.fill(SENTENCES[1])
        field.press("Enter")
        until(page, SAYS, "angry")
        page.wait_for_timeout(1_000)
        return {"bytes a sentence": max(received), **found, "load of the machine": round(os.getloadavg()[0], 2)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="write bench/results/frames.json")
    chosen = options.parse_args()
    with browser() as chromium:
        found = run(chromium)
    for name, value in found.items():
        limit = LIMITS.get(name)
        told = "" if limit is None else f"   limit {limit:g}{'' if value <= limit else '   MISSED'}"
        print(f"{name:45} {value:10,.2f}{told}")
    if chosen.record:
        record("frames", {name: {"value": value, "limit": LIMITS.get(name)} for name, value in found.items()})


if __name__ == "__main__":
    main()
