"""Which sheet: its number, its parts, how many questions."""

import random

import streamlit as st

from examination.bank import ExamPart
from examination.sheet import SheetSettings
from sections.examination.choice_of_sheet import HIGHEST, MOST, keep_sheet, link_to_sheet
from ui.page import drawer
from ui.state import follow_link
from ui.translations import _


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
        with drawer(_("What is on it")):
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
