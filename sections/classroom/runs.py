"""How many are present and what runs, refreshed while the page is open; runs can be stopped and cleared."""

import streamlit as st

from ui.disk import free, nearly_full
from ui.room.entrance import is_teacher, visitors
from ui.runs import manager, state_in_words, stop
from ui.text import literal
from ui.translations import _, ngettext, pgettext

REFRESH, MOST = 3.0, 30  # seconds between refreshes; rows


@st.fragment(run_every=REFRESH)
def show_overview() -> None:
    if not is_teacher():  # the key was given back in another window
        st.rerun()
    here = visitors().here()
    going = [run for run in manager().runs() if not run.over]
    waiting = [run for run in going if run.state == "queued"]
    with st.container(horizontal=True, gap="medium", key="class-numbers"):
        st.metric(_("there"), f"{len(here):,}", width="content")
        st.metric(_("addresses"), f"{len({one.address for one in here}):,}", width="content")
        st.metric(_("training"), f"{len(going) - len(waiting):,}", width="content")
        st.metric(_("waiting"), f"{len(waiting):,}", width="content")
        st.metric(_("GB free on the disk"), f"{free() / 1e9:,.1f}", width="content")
    if nearly_full():
        st.warning(
            _("The disk is nearly full: what is trained now may have to wait for room. Clear runs that have ended."),
            icon=":material/hard_drive:",
        )


def show() -> None:
    st.subheader(pgettext("in the room", "What runs"), anchor=False)
    _rows()
    _clear()


@st.fragment(run_every=REFRESH)
def _rows() -> None:
    if not is_teacher():
        return
    going = sorted((run for run in manager().runs() if not run.over), key=lambda run: (run.position or 0, run.created))
    if not going:
        st.markdown(_("Nothing runs or waits."))
    for run in going[:MOST]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"class-run-{run.id}"):
            st.progress(run.progress, text=f"{run.owner[:4]} · {literal(run.title)}{_(': ')}**{state_in_words(run)}**")
            st.button(_("Stop"), key=f"class-stop-{run.id}", icon=":material/stop:", on_click=stop, args=(run,))
    if len(going) > MOST:
        more = len(going) - MOST
        st.markdown(ngettext("and {n} more", "and {n} more", more).format(n=more))


def _clear() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(_("Stop all that wait"), key="stop-waiting", icon=":material/playlist_remove:", on_click=stop_waiting)
        with st.popover(_("Stop everything"), icon=":material/stop_circle:"):
            st.markdown(_("Everyone’s runs end now, also those that train. What they have learned so far is kept."))
            st.button(_("Stop them"), key="stop-all", type="primary", on_click=stop_all)
        with st.popover(_("Clear what has ended"), icon=":material/delete_sweep:"):
            st.markdown(_("Everyone’s ended runs go from this server, with their models. They cannot be had back."))
            st.button(_("Clear them"), key="clear-ended", type="primary", on_click=clear_ended)


def stop_waiting() -> None:
    stop_of(None, waiting=True)


def stop_all() -> None:
    stop_of(None)


def stop_of(owner: str | None, *, waiting: bool = False) -> None:
    """Cancel the runs of an owner, or of all; waiting ones first, else the next of them would start."""
    going = [run for run in manager().runs() if not run.over and (owner is None or run.owner.startswith(owner))]
    for run in sorted(going, key=lambda run: run.state != "queued"):
        if run.state == "queued" or not waiting:
            run.cancel()


def clear_ended() -> None:
    for run in manager().runs():
        if run.over:
            manager().delete(run)
