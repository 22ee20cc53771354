"""Which sheet: from the link, the last visit, or a random one; its number, its parts, how many questions."""

from __future__ import annotations

import random
from urllib.parse import urlencode

import streamlit as st

from examination.bank import ExamPart
from examination.sheet import SheetSettings
from sections.examination.answers import keep_last, kept_last
from ui.page import drawer
from ui.state import VISIT, follow_link, set_url, url_choice, url_int
from ui.translations import _

HIGHEST = 9_999  # highest sheet number
MOST = 6  # most questions per part
COUNT = 2

_KEY = "_examination_sheet"  # keys with an underscore survive a change of page (ui.navigation)


def sheet_in_link(parts: tuple[str, ...]) -> SheetSettings:
    """The sheet that the link opens. Without a number in the link: the last sheet, of an earlier visit, too; else a
    random one, so that neighbours get different sheets. parts: the bank's, in its order."""
    usual = SheetSettings(random.randint(1, HIGHEST), parts, COUNT, open=True)
    if _KEY not in st.session_state:
        last, mode = kept_last(parts)
        st.session_state[_KEY] = {"last": last or usual, "mode": mode}
    stored = st.session_state[_KEY]
    if stored.get("visit") != (visit := st.session_state.get(VISIT, 0)):
        stored.update(visit=visit, start=stored["last"])
        if stored["mode"] and "seed" not in st.query_params:
            st.query_params["mode"] = stored["mode"]
    start = usual if "seed" in st.query_params else stored["start"]
    linked = st.query_params.get("parts", "").split("-")
    return SheetSettings(
        url_int("seed", start.seed, 1, HIGHEST),
        tuple(name for name in parts if name in linked) or start.parts,
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
    keep_last(settings, st.session_state[_KEY]["mode"])


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


def _new_sheet() -> None:
    st.session_state["sheet"] = random.randint(1, HIGHEST)


def show(bank: tuple[ExamPart, ...], linked: SheetSettings) -> SheetSettings:
    """The chosen sheet. linked: the sheet that the link opens."""
    titles = {part.name: f"{number} {part.title}" for number, part in enumerate(bank, 1)}
    widgets = {"seed": "sheet", "parts": "parts", "count": "count", "open": "open"}  # name in the link → key
    for name, key in widgets.items():
        if follow_link(name) or key not in st.session_state:
            value = getattr(linked, name)
            st.session_state[key] = list(value) if name == "parts" else value
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.number_input(_("Sheet number"), 1, HIGHEST, key="sheet", width=150) or 1
        st.button(_("Another sheet"), key="another", icon=":material/casino:", on_click=_new_sheet)
        with drawer(_("What is on it"), holds=("parts", "count", "open")):
            chosen = st.pills(
                _("Parts"), list(titles), format_func=titles.__getitem__, selection_mode="multi", key="parts", wrap=True
            )
            count = st.slider(_("Questions a part"), 1, MOST, key="count", width=260)
            with_open = st.toggle(_("and an open one"), key="open")
        settings = SheetSettings(int(number), tuple(name for name in titles if name in chosen), count, with_open)
        keep_sheet(settings, tuple(titles))
        st.link_button(
            _("Link to this sheet"), link_to_sheet(settings, tuple(titles)), icon=":material/link:", type="tertiary"
        )
    return settings
