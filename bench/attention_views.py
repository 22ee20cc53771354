"""Our views of attention beside BertViz: bytes sent, time to the first picture, time of an interaction, memory.

python -m bench.attention_views [--record]   (needs playwright and a Chromium)

A model of BERT-base's shape with random weights: 12 layers of 12 heads. Its attention is nearly uniform, the worst case
for a view that draws the strongest edges. BertViz is measured unchanged (bytes), and in a browser within our offline
frame, since unchanged it draws nothing without a CDN. A view not drawn after LIMIT seconds is given up.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from pathlib import Path

import torch
from playwright.sync_api import Browser, Error, Page

from bench.app import browser, new_page, open_when_up
from bench.machine import arguments, record
from bench.served import server
from minibert.config import BertConfig
from minibert.inside.heads.attention_summary import small_copies, strongest_edges
from minibert.inside.heads.kinds import attentions
from minibert.model import Bert
from plots.attention_payloads import heads_payload, lines_payload, matrix_payload
from sections.attention_explorer import bertviz, views

LENGTHS = (64, 128, 512)
LIMIT = 60  # seconds
# Drawings appear on the screen in the second frame after the call.
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
DRAW = "data => { const started = performance.now(); window.draw(data); return performance.now() - started }"
CHANGE = """() => {
  const started = performance.now()
  const box = document.querySelector('#layer')
  box.value = '1'
  box.dispatchEvent(new Event('change'))
  return performance.now() - started
}"""
HOVER = """selector => {
  const token = document.querySelectorAll(selector)[3], started = performance.now()
  token.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))
  token.dispatchEvent(new MouseEvent('mouseenter'))
  const spent = done => () => done(performance.now() - started)
  return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(spent(done))))
}"""


def payloads(probs: torch.Tensor, tokens: list[str], layer: int) -> dict[str, dict]:
    """What the page sends: all heads, the lines of all heads of a layer, and one head as a matrix."""
    names = [f"layer {i + 1}, head {a + 1}" for i in range(probs.size(0)) for a in range(probs.size(1))]
    return {
        "heads": heads_payload(small_copies(probs), names, names, selected=(layer, 0)),
        "lines": lines_payload(tokens, strongest_edges(probs[layer], 0.6), range(probs.size(1))),
        "matrix": matrix_payload(tokens, probs[layer, 0]),
    }


def size(value: object) -> int:
    return len(json.dumps(value))


def as_it_comes(probs: torch.Tensor, tokens: list[str]) -> dict[str, int]:
    """Bytes of BertViz's own JSON of the attention, and of the whole HTML of its model view."""
    from bertviz import model_view

    attention = [layer[None] for layer in probs]
    html = model_view(attention, tokens, html_action="return").data
    return {"JSON": size(probs.tolist()), "HTML of the model view": len(html)}


def drawn(chromium: Browser, html: str, hover: str, change: object = None) -> dict[str, float | str]:
    """Milliseconds until a document is drawn, until another layer is, until a hovered token is; then its memory."""
    page = new_page(chromium)
    page.set_default_timeout(1000 * LIMIT)
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
        file.write(html)
        file.flush()
        try:
            started = time.perf_counter()
            page.goto(f"file://{file.name}", wait_until="load")
            page.evaluate(FRAMES)
            found: dict[str, float | str] = {"first picture, ms": round(1000 * (time.perf_counter() - started))}
            if change is not None:
                started = time.perf_counter()
                page.evaluate(CHANGE) if change == "select" else page.evaluate(DRAW, change)
                page.evaluate(FRAMES)
                found["another layer, ms"] = round(1000 * (time.perf_counter() - started))
            if hover.startswith("shadow "):
                page.locator(hover.removeprefix("shadow ")).nth(3).hover()  # to prepare the page for the timed hover
                page.mouse.move(0, 0)
                script = HOVER.replace("document.query", "document.querySelector('#host').shadowRoot.query")
                found["a hand on a token, ms"] = round(page.evaluate(script, hover.removeprefix("shadow ")))
            elif hover:
                found["a hand on a token, ms"] = round(page.evaluate(HOVER, hover))
            found["memory of scripts, MB"] = script_memory(page)
            found["elements"] = int(_metrics(page)["Nodes"])
            return found
        except Error as error:
            return {"given up": f"after {LIMIT} s: {str(error).splitlines()[0][:60]}"}
        finally:
            page.context.close()


def script_memory(page: Page) -> float:
    """Megabytes used by the scripts of a page."""
    page.context.new_cdp_session(page).send("HeapProfiler.collectGarbage")
    return round(_metrics(page)["JSHeapUsedSize"] / 1e6, 1)


def _metrics(page: Page) -> dict[str, float]:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    return {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}


def compare(chromium: Browser, probs: torch.Tensor) -> dict:
    tokens = [f"token{i}" for i in range(probs.size(-1))]
    started = time.perf_counter()
    ours = payloads(probs, tokens, 0)
    made = time.perf_counter() - started
    other = payloads(probs, tokens, 1)
    documents = {name: views.document(name, payload) for name, payload in ours.items()}
    hover = {"lines": "shadow .token.left"}
    result: dict = {
        "ours": {
            "bytes": {name: size(payload) for name, payload in ours.items()},
            "bytes in all": sum(map(size, ours.values())),
            "made by the server, ms": round(1000 * made),
            **{name: drawn(chromium, documents[name], hover.get(name, ""), other[name]) for name in ours},
        }
    }
    if len(tokens) > 128:
        result["BertViz"] = {
            "JSON": size(probs.tolist()),
            "views": "not tried: 3 million lines for one layer's head view",
        }
        return result
    result["BertViz"] = {
        "bytes": as_it_comes(probs, tokens),
        "head view": drawn(chromium, bertviz.head_view(probs, tokens), "#left text", "select"),
        "model view": drawn(chromium, bertviz.model_view(probs, tokens), ""),
    }
    result["bytes, ours of BertViz's JSON"] = (
        f"{result['ours']['bytes in all'] / result['BertViz']['bytes']['JSON']:.1%}"
    )
    return result


def on_the_page(chromium: Browser) -> dict[str, float]:
    """Milliseconds in the classroom, with the shipped model: page to lines, and each click to its result."""
    waits = {}
    with tempfile.TemporaryDirectory() as folder, server(Path(folder, "runs")) as (address, _process):
        page = new_page(chromium)
        open_when_up(page, address)
        page.wait_for_timeout(15_000)  # the server warms up
        lines = page.locator(".st-key-explorer-lines-a canvas")
        for _visit in range(2):
            started = time.perf_counter()
            page.goto(f"{address}/attention_explorer")
            lines.wait_for()
            waits["page opened to lines drawn"] = round(1000 * (time.perf_counter() - started))
            page.wait_for_timeout(3_000)
        for label, head in (("13 tokens", 2), ("512 tokens", 3)):
            if label == "512 tokens":
                field = page.get_by_label("Your text")
                field.fill("the dog ran after the cat " * 120)
                started = time.perf_counter()
                field.press("Enter")
                page.locator(".st-key-explorer-lines-a .token.left").nth(511).wait_for(state="attached")
                waits["512 tokens typed to lines drawn"] = round(1000 * (time.perf_counter() - started))
                page.wait_for_timeout(3_000)
            started = time.perf_counter()
            page.locator(".st-key-explorer-heads").get_by_role("button", name=f"layer 3, head {head}").click()
            page.get_by_text(re.compile(f"^Layer 3, head {head}[ :]")).wait_for()
            waits[f"a click on a head, {label}"] = round(1000 * (time.perf_counter() - started))
            page.wait_for_timeout(2_000)
            started = time.perf_counter()
            page.locator(".st-key-explorer-lines-a .token.left").nth(head + 2).click()
            page.get_by_text(f"From {head + 3} ·").wait_for()
            waits[f"a click on a token, {label}"] = round(1000 * (time.perf_counter() - started))
            page.wait_for_timeout(2_000)
    return waits


def main() -> None:
    chosen = arguments(__doc__, "attention-views").parse_args()
    torch.set_num_threads(os.cpu_count() or 1)
    torch.manual_seed(0)
    model = Bert(BertConfig.preset("base")).eval()
    results: dict = {}
    with browser() as chromium:
        for length in LENGTHS:
            ids = torch.randint(1_000, 30_000, (length,)).tolist()
            results[f"{length} tokens"] = compare(chromium, attentions(model, ids))
            print(json.dumps({f"{length} tokens": results[f"{length} tokens"]}, indent=2), flush=True)
        del model
        results["in the classroom, ms"] = on_the_page(chromium)
        print(json.dumps(results["in the classroom, ms"], indent=2))
    record(chosen.record, results)


if __name__ == "__main__":
    main()
