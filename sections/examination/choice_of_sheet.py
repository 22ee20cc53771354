"""The sheet on screen: from the link, from the last visit, or a random one; and the link to it."""

from __future__ import annotations

import random
from urllib.parse import urlencode

import streamlit as st

from examination.sheet import SheetSettings
from ui.state import VISIT, set_url, url_choice, url_int

HIGHEST = 9_999  # highest sheet number
MOST = 6  # most questions per part
COUNT = 2

_KEY = "_examination_sheet"  # keys with an underscore survive a change of page (ui.navigation)


def sheet_in_link(parts: tuple[str, ...]) -> SheetSettings:
    """The sheet that the link opens. Without a number in the link: the last sheet, else a random one, so that
    neighbours get different sheets. parts: the bank's, in its order."""
    usual = SheetSettings(random.randint(1, HIGHEST), parts, COUNT, open=True)
    kept = st.session_state.setdefault(_KEY, {"last": usual, "mode": None})
    if kept.get("visit") != (visit := st.session_state.get(VISIT, 0)):
        kept.update(visit=visit, start=kept["last"])
        if kept["mode"] and "seed" not in st.query_params:
            st.query_params["mode"] = kept["mode"]
    start = usual if "seed" in st.query_params else kept["start"]
    asked = st.query_params.get("parts", "").split("-")
    return SheetSettings(
        url_int("seed", start.seed, 1, HIGHEST),
        tuple(name for name in parts if name in asked) or start.parts,
        url_int("count", start.count, 1, MOST),
        url_choice("open", ("true", "false"), str(start.open).lower()) == "true",
    )


def keep_sheet(settings: SheetSettings, parts: tuple[str, ...]) -> None:
    """Put the sheet on screen into the link. If the link opens this sheet anyway, leave it: a new address would add a
    step to the browser's history."""
    if "seed" in st.query_params or settings != sheet_in_link(parts):
        for name, (value, usual) in _linked(settings, parts).items():
            set_url(name, value, default=usual)
    st.session_state[_KEY].update(last=settings, mode=st.query_params.get("mode"))


def link_to_sheet(settings: SheetSettings, parts: tuple[str, ...]) -> str:
    return "?" + urlencode({name: value for name, (value, usual) in _linked(settings, parts).items() if value != usual})


def _linked(settings: SheetSettings, parts: tuple[str, ...]) -> dict[str, tuple[str, str | None]]:
    """Name in the link → (value, default that the link omits)."""
    return {
        "seed": (str(settings.seed), None),
        "parts": ("-".join(settings.parts), "-".join(parts)),
        "count": (str(settings.count), str(COUNT)),
        "open": (str(settings.open).lower(), "true"),
    }
