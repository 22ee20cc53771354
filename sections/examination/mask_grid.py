"""The grid in which a mask is drawn, by mouse and by keyboard."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import streamlit as st

from ui.translations import _

Cells = Collection[tuple[int, int]]


def mask_grid(
    key: str,
    rows: Sequence[str],
    columns: Sequence[str],
    opened: Cells,
    *,
    right: Cells | None,
    disabled: bool,
    on_change: Callable[[], None],
) -> None:
    """Rows attend to columns. opened: cells open when the grid is first drawn under this key · right: the mask to
    compare with, None while it must stay hidden."""
    _component()(
        key=key,
        data={
            "identity": key,
            "rows": list(rows),
            "columns": list(columns),
            "open": _names(opened),
            "right": None if right is None else _names(right),
            "disabled": disabled,
            "words": {
                "label": _("Rows look at columns"),
                "open": _("open"),
                "closed": _("closed"),
                "missing": _("closed, should be open"),
                "extra": _("open, should be closed"),
                "hint": _(
                    "Rows look at columns. A click opens or closes a cell, on a name the whole row or column; arrow "
                    "keys move, the space bar turns a cell."
                ),
                "marked": _("✕ is open and should be closed, ○ is closed and should be open."),
            },
        },
        on_cells_change=on_change,
    )


def drawn(key: str) -> frozenset[tuple[int, int]]:
    """The open cells of the grid under `key`; validates what the browser sends."""
    text = (st.session_state.get(key) or {}).get("cells")
    found = set()
    for name in str(text or "")[:5_000].split():
        row, _dot, column = name.partition(".")
        if row.isdecimal() and column.isdecimal() and len(name) < 8:
            found.add((int(row), int(column)))
    return frozenset(found)


def _names(cells: Cells) -> list[str]:
    return [f"{row}.{column}" for row, column in sorted(cells)]


def _component():
    """Register on every run: the registry lives as long as the server, and any page may be opened first."""
    folder = Path(__file__).parent
    css, js = (folder.joinpath(f"mask_grid.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    return st.components.v2.component("minibert_mask_grid", html='<div class="mb-grid"></div>', css=css, js=js)
