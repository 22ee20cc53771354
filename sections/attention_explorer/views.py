"""Our own views of attention: small pictures of all heads, lines between tokens, one head as a matrix.

A weight has the same colour in every view: the scale runs from 0 to 1, as on every page. The browser draws from a few
bytes per edge (plots/attention_payloads.py); a click returns a small dictionary. Tokens reach the page as text only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from ui.projector import TYPE, projecting
from ui.text import as_script, visible
from ui.translations import _

FOLDER = Path(__file__).parent
VIEWS = ("heads", "lines", "matrix")


@cache
def _code(view: str) -> tuple[str, str]:
    """A view's JavaScript module and its style sheet."""
    if view not in VIEWS:
        raise ValueError(f"a view is one of {', '.join(VIEWS)}, not {view!r}")
    code = "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in ("common", view))
    return code, (FOLDER / "views.css").read_text(encoding="utf-8")


@cache
def _component(view: str):
    code, css = _code(view)
    return st.components.v2.component(f"minibert_attention_{view}", js=code, css=css)


def document(view: str, payload: dict) -> str:
    """One view as a whole HTML document that loads nothing, for a notebook or a file.

    Clicks are appended to the list `window.clicked`; `window.draw(payload)` replaces the drawn payload.
    """
    code, css = _code(view)
    code = code.replace("export default", "const drawView =", 1)
    labels = as_script({"said": _said(), "file": "attention", "shades": _shades()})
    return f"""<!doctype html><html><head><meta charset="utf-8"><style>{css}</style></head><body><div id="host"></div>
<script type="module">
{code}
window.clicked = []
const parentElement = document.getElementById('host').attachShadow({{mode: 'open'}})
parentElement.append(document.head.querySelector('style').cloneNode(true))
let leave = null
window.draw = payload => {{
  leave?.()
  const data = {{...payload, ...{labels}}}
  leave = drawView({{data, parentElement, setTriggerValue: (_name, value) => window.clicked.push(value)}})
}}
window.draw({as_script(payload)})
</script></body></html>"""


def _said() -> dict[str, str]:
    return {
        "layer": _("layer"),
        "head": _("head"),
        "from": _("from"),
        "to": _("to"),
        "keep": _("Keep the picture:"),
        "scale": _("Attention from 0 to 1"),
        "hint": _("Click a cell, or choose one with the arrow keys and Enter."),
        "matrix": _("A head as a matrix: rows attend to columns"),
    }


@cache
def _shades() -> list[str]:
    """Evenly spaced colours of the scale from 0 to 1; the browser interpolates."""
    from plotly.colors import get_colorscale

    from plots.grammar import ATTENTION

    return [colour for _share, colour in get_colorscale(ATTENTION["colorscale"])]


def wide(pixels: int) -> int:
    """The width of a field, enlarged like the type when projecting."""
    return round(pixels * TYPE) if projecting() else pixels


def show(view: str, payload: dict, key: str, on_click: Callable[[dict], Any], *, file: str = "attention") -> None:
    """Draw a payload of plots/attention_payloads.py as one of VIEWS.

    on_click: called before the rerun with the click: {"layer", "head"} for the small pictures; {"row"}, {"column"} or
    {"head"} for the lines; {"row", "column"} for the matrix. file: file name of a saved picture.
    """

    def clicked() -> None:
        click = st.session_state[key].clicked
        if isinstance(click, dict) and all(isinstance(value, int) for value in click.values()):
            on_click(click)

    texts = {"tokens": [visible(token) for token in payload["tokens"]]} if "tokens" in payload else {}
    look = {"said": _said(), "file": file, "scale": TYPE if projecting() else 1, "shades": _shades()}
    _component(view)(data={**payload, **texts, **look}, key=key, on_clicked_change=clicked, width="stretch")
