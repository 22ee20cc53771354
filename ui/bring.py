"""Bring everyone to this page: the teacher offers what is on their screen to every open session of the room.

An offer, never a jump: who is typing goes when they have finished. It lies in the room's store, so that every server
of the class has it; each session looks for it by a small fragment.
"""

import json
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from minibert.text.json_values import json_value
from ui.navigation import current_page, find_page, link_to, open_again
from ui.room.entrance import TEACHERS, change, is_teacher
from ui.room.store import Store, room
from ui.state import EVERY_PAGE
from ui.translations import _

_OFFER, _SEEN = "offer", "_offer_seen"  # name in the store; session_state key: the time of the last offer answered
SECONDS_OFFERED = 600.0  # in case the teacher does not take it back
REFRESH = 8.0  # seconds until everybody sees it; a look costs the server some milliseconds for each open page


@dataclass(frozen=True)
class Offer:
    """A page and its link's parameters. when: seconds since the epoch; two offers differ by it."""

    page: str
    query: dict[str, str]
    when: float


def offer(store: Store) -> Offer | None:
    """The offer that stands."""
    with suppress(sqlite3.Error):
        if text := store.setting(_OFFER):
            standing = Offer(**json_value(text))
            return standing if time.time() - standing.when < SECONDS_OFFERED else None
    return None


def make_offer(store: Store, page: str, query: dict[str, str]) -> None:
    store.set(_OFFER, json.dumps({"page": page, "query": query, "when": time.time()}))


def take_back(store: Store) -> None:
    store.set(_OFFER, None)


def show_bring() -> None:
    """In the teacher's sidebar: offer this page to everyone, or take the offer back. For others: the offer."""
    if is_teacher():
        _button()
    else:
        with st.container(key="bring"):
            _show_offer()


def _button() -> None:
    page = current_page()
    standing = offer(room())
    with st.sidebar, st.container(key="bring-everyone", gap="xxsmall"):
        if page != TEACHERS:
            st.button(
                _("Bring everyone here"),
                key="bring-here",
                icon=":material/campaign:",
                on_click=_bring,
                args=(page,),
                help=_("Every open page shows a link to exactly what you see. Nobody is moved: who types can finish."),
            )
        if standing and (stop := find_page(standing.page)):
            st.button(
                _("Take back: {page}").format(page=stop.title),
                key="bring-back",
                icon=":material/undo:",
                type="tertiary",
                on_click=change,
                args=(take_back, room()),
            )


def _bring(page: str) -> None:
    query = {name: value for name, value in st.query_params.items() if name not in EVERY_PAGE}
    change(make_offer, room(), page, query)


@st.fragment(run_every=REFRESH)
def _show_offer() -> None:
    standing = offer(room())
    if standing is None or st.session_state.get(_SEEN) == standing.when or _is_there(standing):
        return
    stop = find_page(standing.page)
    if stop is None:
        return
    with st.container(key="offer", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_("The class looks at **{page}**").format(page=stop.title), width="content")
        if stop.name == current_page():
            if st.button(_("Go there"), key="offer-here", type="tertiary", icon=":material/arrow_forward:"):
                open_again(current_page(), standing.query)
        else:  # a link, as it adds one step to the browser's history
            link_to(stop.name, _("Go there"), query_params=standing.query, icon=":material/arrow_forward:")
        st.button(_("Not now"), key="offer-later", type="tertiary", on_click=_answer, args=(standing,))


def _answer(standing: Offer) -> None:
    st.session_state[_SEEN] = standing.when


def _is_there(standing: Offer) -> bool:
    """Whether this session shows what is offered; from then on the offer counts as answered."""
    there = current_page() == standing.page and standing.query.items() <= dict(st.query_params).items()
    if there:
        _answer(standing)
    return there
