"""How well the words of figures can be read: their colour against what is drawn under them (WCAG 2.2, contrast)."""

import io
import re

import numpy as np
from PIL import Image
from playwright.sync_api import Page

from plots.theme import contrast
from tests.browser.driver import wait_idle

LEAST = 4.5
TEXTS = """() => [...document.querySelectorAll('.stMain .stPlotlyChart svg.main-svg text')].map((text) => {
  const box = text.getBoundingClientRect(), css = getComputedStyle(text);
  const shown = text.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const figure = text.closest('.stPlotlyChart').closest('[class*="st-key-"]')?.className.match(/st-key-[^ ]+/)?.[0];
  return {said: text.textContent.trim(), seen: shown && box.width > 4 && box.height > 4, figure,
    fill: css.fill, opacity: css.fillOpacity * css.opacity, x: box.x, y: box.y, width: box.width, height: box.height};
}).filter(({seen, said, x, y, width, height}) => seen && said
  && x >= 0 && y >= 0 && x + width <= innerWidth && y + height <= innerHeight)"""
WITHOUT = ".stPlotlyChart text { visibility: hidden !important; }"
ACROSS, DOWN = np.linspace(0.04, 0.96, 25), np.linspace(0.2, 0.8, 5)  # where under a text one looks


def faint_words(page: Page) -> list[str]:
    """A line for each text of a figure in the window that stands out too little from what is under it."""
    before = page.viewport_size
    height = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": before["width"], "height": min(int(height) + 20, 9_000)})
    wait_idle(page)
    texts = page.evaluate(TEXTS)
    style = page.add_style_tag(content=WITHOUT)
    under = np.asarray(Image.open(io.BytesIO(page.screenshot(timeout=120_000))).convert("RGB"))
    style.evaluate("style => style.remove()")
    page.set_viewport_size(before)
    told = []
    for text in texts:
        xs, ys = text["x"] + ACROSS * text["width"], text["y"] + DOWN * text["height"]
        points = under[np.ix_(ys.astype(int), xs.astype(int))].reshape(-1, 3)
        colours, counts = np.unique(points, axis=0, return_counts=True)
        ground = colours[counts.argmax()]  # what most of it stands on, not a line or a point that crosses it
        ink = [float(part) for part in re.findall(r"[\d.]+", text["fill"])[:3]]
        shown = text["opacity"] * np.array(ink) + (1 - text["opacity"]) * ground
        found = contrast(_hexadecimal(shown), _hexadecimal(ground))
        if found < LEAST:
            told.append(
                f"{text['figure']}: “{text['said'][:40]}” {_hexadecimal(shown)} on {_hexadecimal(ground)}: {found:.1f}"
            )
    return told


def _hexadecimal(colour) -> str:
    return "#" + "".join(f"{round(float(part)):02X}" for part in colour)
