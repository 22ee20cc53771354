"""How long a user of part 5 waits: to the first picture of a page, and from each action to its result.

python -m bench.looking_inside [--record]   (needs playwright and a Chromium)

The pages on embeddings, probes, attribution and planted cues, with the shipped model; bench.attention_views compares
the attention explorer with BertViz. Each page is opened twice by new users of a warm server; the second profits from
what the first had it compute. Times are measured in the browser, in milliseconds; those of runs are marked. Sent: bytes
from the server until the page is at rest. Memory: of the page's scripts, and of the server's process after all four
pages.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page

from bench.app import AT_REST, PATIENT, browser, new_page, open_when_up, until
from bench.attention_views import script_memory
from bench.machine import arguments, record
from bench.served import server

# Elements by selector, including those in the shadow roots of components.
ALL = """const all = (selector, root = document) => [...root.querySelectorAll(selector),
  ...[...root.querySelectorAll('*')].flatMap(host => host.shadowRoot ? all(selector, host.shadowRoot) : [])]
"""
THERE = "selector => {" + ALL + "return all(selector).length > 0 }"
OTHER = "([selector, before]) => {" + ALL + "return ![undefined, before].includes(all(selector)[0]?.innerText) }"
MOVED = "before => {" + ALL + "return all('.mb-moving input')[0]?.getAttribute('aria-valuetext') !== before }"
SAYS = "words => document.body.innerText.includes(words)"
SAYS_NO_MORE = "words => !document.body.innerText.includes(words)"


class Reader:
    """One browser tab, and its measured waits."""

    def __init__(self, chromium: Browser, address: str):
        self.address, self.sent, self.waits = address, 0, {}
        self.page: Page = new_page(chromium)
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._received))

    def _received(self, data: str | bytes) -> None:
        self.sent += len(data)

    def wait(self, name: str, action: Callable[[], object], condition: str, arg: object = None) -> None:
        """Time from an action until its condition holds; then let the page come to rest."""
        started = time.perf_counter()
        action()
        until(self.page, condition, arg)
        self.waits[f"{name}, ms"] = round(1000 * (time.perf_counter() - started))
        until(self.page, AT_REST, 0)
        self.page.wait_for_timeout(1_500)

    def open(self, name: str, title: str, picture: str) -> None:
        """Open a page by the menu of Home, so that the browser has loaded the classroom's scripts already."""
        self.page.goto(self.address)
        until(self.page, AT_REST, 0)
        self.page.wait_for_timeout(3_000)
        self.sent = 0
        link = self.page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True)
        self.wait(name, link.click, THERE, picture)
        self.waits[f"{name}: sent, kB"] = round(self.sent / 1000)

    def type(self, field, text: str) -> None:
        field.fill(text)
        field.press("Enter")

    def text(self, selector: str) -> str:
        return self.page.locator(selector).first.inner_text()

    def leave(self) -> dict[str, float]:
        self.waits["memory of scripts, MB"] = script_memory(self.page)
        self.page.context.close()
        return self.waits


def embeddings(reader: Reader) -> None:
    page = reader.page
    reader.open("page opened to points drawn", "Embeddings", ".mb-moving .point")
    slider = page.locator(".mb-moving input")
    reader.wait("another layer", lambda: slider.press("Home"), MOVED, slider.get_attribute("aria-valuetext"))
    point = page.locator(".mb-moving .point").nth(3)
    reader.wait("a point to its neighbours", lambda: point.dispatch_event("click"), SAYS, "are of its own group")
    page.goto(f"{reader.address}/embeddings?method=tsne&model=mini-en")
    until(page, THERE, ".mb-moving .point")
    button = page.get_by_role("button", name="Compute t-SNE")
    if button.count():  # absent once an earlier user has had it computed
        reader.wait("t-SNE of all layers, a run", button.click, SAYS_NO_MORE, "Until t-SNE is there")


def probes(reader: Reader) -> None:
    page = reader.page
    reader.open("page opened to the logit lens", "What each layer knows", ".st-key-wide-lens svg.main-svg")
    words, field = ".st-key-lens-words", page.get_by_label("Sentence with a [MASK]")
    before = reader.text(words)
    reader.wait(
        "a sentence typed to its lens",
        lambda: reader.type(field, "Paris is the capital of [MASK]."),
        OTHER,
        [words, before],
    )
    button = page.get_by_role("button", name=re.compile("Train .* probes"))
    if button.count():
        reader.wait("probes of all layers to their lines, a run", button.click, THERE, ".st-key-probe-lines .js-line")
        page.get_by_text(re.compile("Ours (agrees|does not agree|cannot tell)")).first.wait_for(timeout=PATIENT)


def attribution(reader: Reader) -> None:
    page, words = reader.page, 'ol[aria-label^="The text, with what"] li'
    page.goto(f"{reader.address}/attribution")
    until(page, AT_REST, 0)
    page.wait_for_timeout(3_000)
    button = page.get_by_role("button", name="Train it")
    if button.count():
        reader.wait("a model trained to be asked, a run", button.click, THERE, words)
    reader.open("page opened to coloured words", "Why this answer", words)
    field, last = page.get_by_role("textbox", name="Your own text"), f"{words}:last-of-type"
    before = reader.text(last)
    reader.wait("a text typed to its words", lambda: reader.type(field, "a dull comedy"), OTHER, [last, before])
    second = f"{words}:nth-of-type(2)"
    for method in ("Leave one out", "Attention rollout"):
        before, chosen = reader.text(second), page.get_by_role("radio", name=method)
        reader.wait(method.lower(), chosen.click, OTHER, [second, before])


def wrong_reasons(reader: Reader) -> None:
    page = reader.page
    reader.open("page opened to the first text", "Does it understand?", ".mb-marked, [data-testid='stTable'], table")
    button = page.get_by_role("button", name="Train 2 models")
    reader.wait("training to the first point, a run", button.click, THERE, '[class*="st-key-curves"] .point')
    reader.wait("training to the three tests, from there", lambda: None, THERE, '[class*="st-key-finals"] .bars')


PAGES = {"embeddings": embeddings, "probes": probes, "attribution": attribution, "wrong reasons": wrong_reasons}


def measure(chromium: Browser) -> dict:
    results: dict = {name: {} for name in PAGES}
    with tempfile.TemporaryDirectory() as folder, server(Path(folder, "runs")) as (address, process):
        reader = Reader(chromium, address)
        open_when_up(reader.page, address)
        reader.page.wait_for_timeout(15_000)  # the server warms up
        reader.leave()
        for name, read in PAGES.items():
            for who in ("first reader", "second reader"):
                reader = Reader(chromium, address)
                read(reader)
                results[name][who] = reader.leave()
                print(json.dumps({f"{name}, {who}": results[name][who]}, indent=2), flush=True)
        results["memory of the server's process, MB"] = round(process.memory_info().rss / 1e6)
    return results


def main() -> None:
    chosen = arguments(__doc__, "looking-inside").parse_args()
    with browser() as chromium:
        results = measure(chromium)
    record(chosen.record, results)


if __name__ == "__main__":
    main()
