"""The examination's sheets that were handed in: a table, all of them as a file, and cleared when they are marked."""

import csv
import io
import re
from datetime import datetime

import streamlit as st

from ui.room.entrance import change, is_teacher
from ui.room.sheets import HandedSheet, Sheets
from ui.room.store import room
from ui.runs import zipped
from ui.text import shorten
from ui.translations import _, ngettext, pgettext

REFRESH = 5.0  # seconds


def show() -> None:
    _table()


@st.fragment(run_every=REFRESH)
def _table() -> None:
    if not is_teacher():
        return
    handed = Sheets(room()).all(pages=False)
    if not handed:
        st.markdown(_("Nobody has handed in a sheet of the examination. Each one comes here as it is handed in."))
        return
    count = ngettext("**{n} sheet** handed in", "**{n} sheets** handed in", len(handed)).format(n=len(handed))
    st.markdown(count)
    titles = columns()
    st.dataframe([dict(zip(titles, row_of(one), strict=True)) for one in handed], hide_index=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            _("Download all"),
            lambda: all_in_one(Sheets(room()).all()),
            file_name="examination.zip",
            mime="application/zip",
            icon=":material/download:",
            key="download-sheets",
            on_click="ignore",
            type="primary",
        )
        with st.popover(_("Clear the sheets"), icon=":material/delete_sweep:"):
            st.markdown(_("All sheets go from this server. Download them first: they cannot be had back."))
            st.button(
                _("Clear them"), key="clear-sheets", type="primary", on_click=change, args=(Sheets(room()).clear,)
            )


def columns() -> tuple[str, ...]:
    return (
        _("name"),
        _("who"),
        _("sheet"),
        _("handed in"),
        _("times"),
        pgettext("of an examination", "points"),
        pgettext("of an examination", "of"),
        _("self-marked"),
        _("of those"),
    )


def row_of(one: HandedSheet) -> tuple:
    when = datetime.fromtimestamp(one.when).strftime("%Y-%m-%d %H:%M")
    return (one.name or "–", one.owner[:4], one.sheet.split()[0], when, one.times, *one.marks)


def all_in_one(handed: list[HandedSheet]) -> bytes:
    """A zip file: a table of the points, and each sheet as the page that its student has."""
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(columns())
    writer.writerows([_plain(cell) for cell in row_of(one)] for one in handed)
    files = {"points.csv": table.getvalue().encode("utf-8-sig")}  # with its mark, spreadsheets read UTF-8
    for number, one in enumerate(handed, 1):
        name = re.sub(r"[^\w-]+", "-", shorten(one.name, 40)).strip("-") or one.owner[:4]
        files[f"{number:03d}-{name}-{one.sheet.split()[0]}.html"] = one.page.encode("utf-8")
    return zipped(files)


def _plain(cell: object) -> object:
    """A text that a spreadsheet would compute as a formula gets an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell
