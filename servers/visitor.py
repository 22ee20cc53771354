"""A visitor without a browser: speaks Streamlit's protocol (a websocket of protobuf messages) with the classroom.

It keeps what a browser would: cookies, widget values, the link, parts of a page that rerun periodically. It renders
nothing: a real browser's rendering comes on top of every time measured with it.
"""

from __future__ import annotations

import asyncio
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

PATIENT = 60.0  # default timeout in seconds for an answer
VISITING = 600.0  # timeout for opening every page on a freshly started machine
IDLE = 20.0  # percent in use below which a machine is idle
MOMENT, YIELDING = 0.25, 2_400  # seconds between two looks at that; how many of them in all, for a room must get ready
WIDGETS = ("button", "text_input", "text_area", "radio")  # kinds of widgets a visitor can use
STARTED = -1  # beside Streamlit's numbers of how a run ended
EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN  # how a run ends before its time, or before its end was sent


class BrokenOff(Exception):
    """The connection ended, or an answer never came."""


@dataclass
class Widget:
    """A widget on the page: `kind` is one of WIDGETS or "tabs"; `key` the key set in the page's code."""

    kind: str
    proto: Any
    fragment: str
    tabs: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.proto.id

    @property
    def key(self) -> str:
        return self.id.split("-", 2)[-1]


class HeadlessVisitor:
    """One browser tab, with cookies of its own."""

    def __init__(self, address: str, patience: float = PATIENT):
        self.address, self.patience = address, patience
        self.cookies: dict[str, str] = {}
        self.pages: dict[str, str] = {}  # page's URL path → Streamlit's page hash
        self.exceptions: list[str] = []
        self._texts: dict[tuple[int, ...], str] = {}
        self.received = 0  # bytes
        self._socket: websockets.ClientConnection | None = None
        self._reader: asyncio.Task | None = None
        self._query, self._page, self._session = "", "", ""
        self._states: dict[str, WidgetState] = {}
        self._widgets: dict[tuple[int, ...], Widget] = {}
        self._clocks: dict[str, asyncio.Task] = {}
        self._ended: asyncio.Queue = asyncio.Queue()

    # --- connecting and closing ---------------------------------------------------------------------------------------

    async def open(self, page: str = "", query: str = "") -> float:
        """Fetch the page as a browser does, connect, and wait for the whole page → seconds."""
        began = time.perf_counter()
        try:
            self._query = query
            await asyncio.to_thread(self._fetch, f"/{page}?{query}" if query else f"/{page}")
            for path in ("health", "host-config"):  # the first gives Streamlit's cookie
                await asyncio.to_thread(self._fetch, f"/_stcore/{path}")
            await self._connect()
            await self._run(page_name=page)
        except (OSError, websockets.WebSocketException) as error:
            raise BrokenOff(repr(error)) from error
        return time.perf_counter() - began

    async def close(self) -> None:
        for task in (*self._clocks.values(), *filter(None, [self._reader])):
            task.cancel()
        self._clocks.clear()
        if self._socket:
            with suppress(Exception):
                await self._socket.close()
        self._socket = None

    async def again(self) -> float:
        """Reconnect after a lost connection, as a browser does, with the link and the widget values."""
        await self.close()
        began = time.perf_counter()
        try:
            await self._connect()
            await self._run()
        except (OSError, websockets.WebSocketException) as error:
            raise BrokenOff(repr(error)) from error
        return time.perf_counter() - began

    def _fetch(self, path: str) -> None:
        request = urllib.request.Request(self.address + path, headers={"Cookie": self._cookie()})
        with urllib.request.urlopen(request, timeout=self.patience) as response:
            response.read()
            for line in response.headers.get_all("Set-Cookie") or ():
                self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}

    def _cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    async def _connect(self) -> None:
        where = self.address.replace("http", "ws", 1) + "/_stcore/stream"
        xsrf = urllib.parse.unquote(self.cookies.get("_streamlit_xsrf", ""))
        protocols = [websockets.Subprotocol(name) for name in ("streamlit", xsrf or "none", self._session) if name]
        headers = {"Cookie": self._cookie(), "Origin": self.address}
        self._socket = await websockets.connect(
            where,
            subprotocols=protocols,
            additional_headers=headers,
            max_size=None,
            compression=None,
            open_timeout=self.patience,
            ping_interval=None,
            proxy=None,
        )
        self._ended = asyncio.Queue()
        self._reader = asyncio.create_task(self._read(self._socket))

    # --- using a page -------------------------------------------------------------------------------------------------

    async def go(self, page: str) -> float:
        """Follow a link of the menu → seconds until the page is complete."""
        self._page, self._query = self.pages[page], ""
        self._states.clear()
        return await self._timed()

    async def click(self, widget: Widget) -> float:
        return await self._timed(WidgetState(id=widget.id, trigger_value=True), widget.fragment)

    async def enter(self, widget: Widget, value: str) -> float:
        """Type a text, choose an option or open a tab → seconds."""
        state = self._states[widget.id] = WidgetState(id=widget.id, string_value=value)
        return await self._timed(state, widget.fragment)

    def offered(self, kind: str) -> list[Widget]:
        found = [widget for widget in self._widgets.values() if widget.kind == kind]
        return [widget for widget in found if not getattr(widget.proto, "disabled", False)]

    @property
    def text(self) -> str:
        """The page's headings, its prose, and the texts of its progress bars."""
        return "\n".join(self._texts.values())

    @property
    def connected(self) -> bool:
        return self._socket is not None and self._reader is not None and not self._reader.done()

    async def _timed(self, state: WidgetState | None = None, fragment: str = "") -> float:
        began = time.perf_counter()
        await self._run(state, fragment)
        return time.perf_counter() - began

    async def _run(self, state: WidgetState | None = None, fragment: str = "", page_name: str = "") -> None:
        """Request a run of the page or of a fragment, and wait for its end."""
        while not self._ended.empty():
            self._ended.get_nowait()
        await self._ask(state, fragment, page_name=page_name)
        deadline, early = time.perf_counter() + self.patience, False
        while True:
            try:
                left = deadline - time.perf_counter()
                status, fragments = await asyncio.wait_for(self._ended.get(), max(left, 0.01))
            except TimeoutError as error:
                raise BrokenOff("no answer") from error
            if status is None:
                raise BrokenOff(fragments)
            # A run of the whole page satisfies any request; a fragment's run only one for that fragment.
            satisfies = not fragments or fragment in fragments
            if status == STARTED:
                if early and not satisfies:
                    return  # the run was complete: if it had been superseded, the newer one would satisfy
                early = False
            elif satisfies:
                early = status == EARLY
                if not early:
                    return

    async def _ask(self, state: WidgetState | None, fragment: str, *, page_name: str = "", clock: bool = False) -> None:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string, rerun.page_script_hash = self._query, self._page
        rerun.page_name, rerun.fragment_id, rerun.is_auto_rerun = page_name, fragment, clock
        rerun.context_info.url, rerun.context_info.locale = self.address, "en-US"
        states = self._states | ({state.id: state} if state else {})
        rerun.widget_states.widgets.extend(states.values())
        if self._socket is None:
            raise BrokenOff("not connected")
        try:
            await self._socket.send(message.SerializeToString())
        except websockets.WebSocketException as error:
            raise BrokenOff(repr(error)) from error

    # --- messages from the server -------------------------------------------------------------------------------------

    async def _read(self, socket: websockets.ClientConnection) -> None:
        why = "the connection was closed"
        try:
            async for data in socket:
                self.received += len(data)
                self._take(ForwardMsg.FromString(data))
        except websockets.WebSocketException as error:
            why = repr(error)
        finally:
            for task in self._clocks.values():
                task.cancel()
            self._clocks.clear()
            self._ended.put_nowait((None, why))

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "delta":
            self._draw(tuple(message.metadata.delta_path), message.delta)
        elif kind == "script_finished":
            self._ended.put_nowait((message.script_finished, list(message.metadata.run.fragment_ids)))
        elif kind == "new_session":
            self._ended.put_nowait((STARTED, list(message.metadata.run.fragment_ids)))
            if not message.metadata.run.fragment_ids:
                self._widgets.clear()
                self._texts.clear()
                self._stop_clocks()
            self._page = message.new_session.page_script_hash
            if message.new_session.HasField("initialize"):
                self._session = message.new_session.initialize.session_id
        elif kind == "navigation":
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            again = message.auto_rerun
            self._stop_clocks(again.fragment_id)
            self._clocks[again.fragment_id] = asyncio.create_task(self._tick(again.interval, again.fragment_id))
        elif kind == "stop_auto_rerun":
            self._stop_clocks(*message.stop_auto_rerun.fragment_ids)

    def _stop_clocks(self, *fragments: str) -> None:
        for fragment in fragments or tuple(self._clocks):
            if clock := self._clocks.pop(fragment, None):
                clock.cancel()

    async def _tick(self, interval: float, fragment: str) -> None:
        with suppress(BrokenOff):
            while True:
                await asyncio.sleep(interval)
                await self._ask(None, fragment, clock=True)

    def _draw(self, path: tuple[int, ...], delta: Any) -> None:
        for old in [old for old in self._widgets if old[: len(path)] == path]:
            if self._widgets[old].kind != "tabs" or delta.WhichOneof("type") != "add_block":
                del self._widgets[old]
        if delta.WhichOneof("type") == "add_block":
            block = delta.add_block
            if block.HasField("tab_container"):
                self._widgets[path] = Widget("tabs", block.tab_container, delta.fragment_id)
            elif block.HasField("tab") and path[:-1] in self._widgets:
                self._widgets[path[:-1]].tabs.append(block.tab.label)
            return
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind in WIDGETS:
            self._widgets[path] = Widget(kind, getattr(element, kind), delta.fragment_id)
        elif kind == "exception":
            self.exceptions.append(f"{element.exception.type}: {element.exception.message}"[:300])
        elif kind == "heading":
            self._texts[path] = f"{'#' * int(element.heading.tag[1:])} {element.heading.body}"
        elif kind == "markdown":
            self._texts[path] = element.markdown.body
        elif kind == "progress":
            self._texts[path] = element.progress.text


async def open_parts(visitor: HeadlessVisitor) -> AsyncIterator[str]:
    """Open the parts of the page that are still closed, one after the other; yield the title of each as it is there."""
    for titles in [one.tabs for one in visitor.offered("tabs")]:
        for title in titles[1:]:
            if tabs := [one for one in visitor.offered("tabs") if one.tabs == titles]:
                await visitor.enter(tabs[0], title)
                yield title


def busy() -> float:
    """Percent of the machine in use since the last call; niced processes, as trainings are, do not count."""
    shares = psutil.cpu_times_percent()
    return shares.user + shares.system


async def until_idle(most: int, busy: Callable[[], float] = busy, moment: float = MOMENT) -> int:
    """Wait until the machine is idle for a moment (seconds), looking at it `most` times → how often it was busy."""
    busy()
    for looks in range(most):
        await asyncio.sleep(moment)
        if busy() < IDLE:
            return looks
    return most


async def visit_all(address: str, *, parts: bool = True, polite: bool = False) -> float:
    """Open every page once, so that imports, loading and caching delay no user later → seconds.

    parts: every part, too · polite: whoever is there already goes first, for ten minutes in all.

    Raises BrokenOff if the server does not answer.
    """
    visitor, began, left = HeadlessVisitor(address, VISITING), time.perf_counter(), YIELDING if polite else 0
    try:
        await visitor.open()
        for page in visitor.pages:
            left -= await until_idle(left)
            await visitor.go(page)
            if parts:
                async for _title in open_parts(visitor):
                    left -= await until_idle(left)
    finally:
        await visitor.close()
    return time.perf_counter() - began


if __name__ == "__main__":
    try:
        asyncio.run(visit_all(sys.argv[1], polite=True))
    except BrokenOff as error:
        sys.exit(str(error))
