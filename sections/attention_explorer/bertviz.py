"""BertViz (Vig 2019) on a page: its own head, model and neuron views, fed by our models, offline and safe.

Unmodified, BertViz loads require.js, jQuery and d3 from a CDN, and writes token text unescaped into a script. Here its
drawing code is unchanged except for these two points: the libraries come from installed packages, numbers and tokens
from JSON that cannot close a script, and every view has its own frame without network access. Layers and heads count
from 1, as everywhere here; they are chosen on the page, where the link keeps them, not in the frame, which forgets
them. A view wider than its frame is scaled down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import streamlit as st

from ui.text import as_script

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
_DIGITS = 4  # of a weight; a line's opacity shows no more
_COLOURS = {True: ("#14171C", "#E9E7E2", "#444B57"), False: ("#FDFCFA", "#23272E", "#DDD8CE")}  # as in the theme
_WIDTHS = {"head_view": 345, "model_view": 970, "neuron_view": 1020}  # pixels that each view needs
_SMALLEST = 0.6  # smallest scale; a view that is still too wide scrolls
_AMD = "window.require = {config() {}}; window.requirejs = (names, build) => build(window.jQuery, window.d3);"


@cache
def _installed(package: str, *path: str) -> str:
    """The text of a file of an installed package, without importing the package."""
    (folder,) = find_spec(package).submodule_search_locations
    return Path(folder, *path).read_text(encoding="utf-8")


def _libraries() -> str:
    d3 = _installed("mpld3", "js", "d3.v5.min.js")
    jquery = _installed("xstatic.pkg.jquery", "data", "jquery.min.js")
    return "".join(f"<script>{code}</script>" for code in (jquery, d3, _AMD))


def _drawing(view: str) -> str:
    """BertViz's own code of a view, without the URLs of its libraries."""
    code, found = re.subn(r"require\.config\(\{.*?\}\s*\);", "", _installed("bertviz", f"{view}.js"), flags=re.DOTALL)
    code, counted = re.subn(r"\.val\(i\)\.text\(i\)", ".val(i).text(i + 1)", code)
    if counted != (2 if view == "neuron_view" else 0):
        raise RuntimeError(f"this version of BertViz counts in {view} in a way that is not known here")
    if found != 1 or "://" in re.sub(r"/\*\*.*?\*/", "", code, flags=re.DOTALL):
        raise RuntimeError(f"this version of BertViz loads {view} in a way that is not known here")
    return code


def _rounded(values) -> list:
    return np.round(np.asarray(values, dtype=float), _DIGITS).tolist()


def _parts(size: int, second: int | None) -> dict[str, tuple[str, slice, slice]]:
    """Filters for a pair: key → (name, rows, columns). second: position where the second sentence begins."""
    whole, a, b = slice(0, size), slice(0, second), slice(second, size)
    if second is None:
        return {"all": ("All", whole, whole)}
    return {
        "all": ("All", whole, whole),
        "aa": ("Sentence A -> Sentence A", a, a),
        "ab": ("Sentence A -> Sentence B", a, b),
        "ba": ("Sentence B -> Sentence A", b, a),
        "bb": ("Sentence B -> Sentence B", b, b),
    }


def _filter(parts: dict[str, tuple[str, slice, slice]]) -> str:
    """A select box for the part of a pair, by number; empty for a single sentence."""
    if len(parts) == 1:
        return ""
    options = _options([(str(number), name) for number, (name, _rows, _columns) in enumerate(parts.values())])
    return f'Attention: <select id="filter">{options}</select>'


def _options(values: Sequence[tuple[str, str]]) -> str:
    return "".join(f'<option value="{value}">{name.replace("->", "→")}</option>' for value, name in values)


def _hidden(*ids: str) -> str:
    """Hidden select boxes, which BertViz needs: the page sets these values."""
    return "".join(f'<select id="{name}" hidden></select>' for name in ids)


def _page(view: str, controls: str, params: dict, dark: bool, scale: float, then: str = "") -> str:
    back, text, faint = _COLOURS[dark]
    root = params["root_div_id"] = "bertviz"
    code = _drawing(view).replace("'background': 'black'", f"'background': '{back}'")
    code = code.replace("'background': 'white'", f"'background': '{back}'")
    data = as_script(params)
    if view == "neuron_view":
        code = f"window.bertviz_params = {data};\n{code}"
    else:
        code = code.replace("const params = PYTHON_PARAMS;", f"const params = {data};", 1)
    return f"""<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<style>
:root {{ color-scheme: {"dark" if dark else "light"}; }}
body {{ margin: 0; padding: 4px 8px; background: {back}; color: {text}; font: 16px system-ui, sans-serif; }}
select {{ font: inherit; margin-right: 0.8em; }}
svg text {{ fill: currentColor; }}
svg rect.background {{ fill: {faint}; }}
</style></head><body>
<div id="{root}"><span style="user-select:none">{controls}</span><div id="vis"></div></div>
{_libraries()}<script>{code}</script><script>{_fitted(_WIDTHS[view], scale)}{then}</script></body></html>"""


def _fitted(width: int, scale: float) -> str:
    """A script: scale the view by `scale`, or less if the frame is too narrow."""
    return (
        "{ const whole = document.getElementById('bertviz'),"
        f" fit = () => {{ whole.style.zoom = Math.max({_SMALLEST}, Math.min({scale}, (innerWidth - 18) / {width})) }};"
        " addEventListener('resize', fit); fit(); }"
    )


def head_view(
    attention,
    tokens: Sequence[str],
    second: int | None = None,
    *,
    layer: int = 0,
    head: int | None = None,
    dark: bool = False,
    scale: float = 1,
) -> str:
    """Lines of a layer's heads, as a whole HTML document.

    attention: (L, A, T, T) · second: position where the second sentence begins, None without one · layer, head: from 0;
    head: None for all · scale: enlargement over BertViz's own size, for projectors.
    """
    attention = np.asarray(attention)
    parts = _parts(len(tokens), second)
    controls = _hidden("layer") + _filter(parts)
    params = {
        "attention": _lists(attention, tokens, parts),
        "default_filter": "0",
        "layer": layer + 1,
        "heads": None if head is None else [head],
        "include_layers": _counted(len(attention)),
    }
    return _page("head_view", controls, params, dark, scale)


def _counted(count: int) -> list[int]:
    return list(range(1, count + 1))


def model_view(
    attention,
    tokens: Sequence[str],
    second: int | None = None,
    *,
    opened: tuple[int, int] | None = None,
    dark: bool = False,
    scale: float = 1,
) -> str:
    """All layers × heads at once; a click opens one. opened: the open one, from 0. The rest as in `head_view`."""
    attention = np.asarray(attention)
    parts = _parts(len(tokens), second)
    layers, heads = attention.shape[:2]
    params = {
        "attention": _lists(attention, tokens, parts),
        "default_filter": "0",
        "display_mode": "dark" if dark else "light",
        "include_layers": _counted(layers),
        "include_heads": _counted(heads),
        "total_heads": max(8, heads),  # columns that share the width: with fewer, the pictures become too tall
    }
    then = "" if opened is None else _opening(*opened)
    return _page("model_view", _filter(parts), params, dark, scale, then)


def _opening(layer: int, head: int) -> str:
    """A script that clicks a head's picture: the last shape of its group handles the click."""
    return (
        f"document.getElementById('attn_background_{layer}_{head}').parentNode.lastElementChild"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}));"
    )


def _lists(attention: np.ndarray, tokens: Sequence[str], parts: dict[str, tuple[str, slice, slice]]) -> list[dict]:
    tokens = list(tokens)
    return [
        {
            "name": name,
            "attn": _rounded(attention[:, :, rows, columns]),
            "left_text": tokens[rows],
            "right_text": tokens[columns],
        }
        for name, rows, columns in parts.values()
    ]


def neuron_view(
    attention,
    queries,
    keys,
    tokens: Sequence[str],
    second: int | None = None,
    *,
    layer: int = 0,
    head: int = 0,
    both_ways: bool = True,
    dark: bool = False,
    scale: float = 1,
) -> str:
    """Query and key of every token, number by number. queries, keys: (L, A, T, D), as the model computed them.

    both_ways: whether a token attends to those after it.
    """
    attention, queries, keys = (np.asarray(values) for values in (attention, queries, keys))
    parts, tokens = _parts(len(tokens), second), list(tokens)
    controls = _hidden("layer", "att_head")
    if second is not None:
        names = _options([(key, part[0]) for key, part in parts.items()])
        controls += f'<span class="dropdown-label">Attention: </span><select id="filter">{names}</select>'
    params = {
        "attention": {
            key: {
                "attn": _rounded(attention[:, :, rows, columns]),
                "queries": _rounded(queries[:, :, rows]),
                "keys": _rounded(keys[:, :, columns]),
                "left_text": tokens[rows],
                "right_text": tokens[columns],
            }
            for key, (_name, rows, columns) in parts.items()
        },
        "default_filter": "all",
        "bidirectional": both_ways,
        "display_mode": "dark" if dark else "light",
        "layer": layer,
        "head": head,
    }
    return _page("neuron_view", controls, params, dark, scale)


def show(html: str, key: str, alt: str, height: int) -> None:
    """Put a view on the page, in its own frame, which scrolls if the view is larger."""
    with st.container(key=key):
        st.iframe(html, height=height, alt=alt)
