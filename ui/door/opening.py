"""Start-up and shutdown of the server."""

import ast
import asyncio
import contextlib
import ctypes
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module

from streamlit import config
from streamlit.cli_util import open_browser
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server.server_util import get_url

from minibert.folders import ROOT, runs_folder
from ui.door.uploads import SECONDS_BETWEEN_SWEEPS, clear_leftovers
from ui.door.uploads import store as uploads
from ui.fragments import click_once, keep_endings

SECONDS_BETWEEN_TRIMS = 20


@contextlib.asynccontextmanager
async def opening(_app) -> AsyncIterator[None]:
    """Start-up, background tasks and shutdown: st.App's `lifespan`."""
    # Until course.py has run once, Streamlit would build its own menu from pages/: a first visitor who follows a link
    # to a lesson would get that file alone, without menu, style sheet and entrance check.
    PagesManager.uses_pages_directory = False
    keep_endings()
    click_once()
    import_pages()
    from streamlit import runtime

    from ui.model_cache import warm_up
    from ui.room import presence
    from ui.room.kept import Kept
    from ui.room.key import announce
    from ui.room.store import room
    from ui.room.visitors import Visitors
    from ui.runs import manager

    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    clear_leftovers(runs_folder())
    Visitors(room()).forget_old()
    Kept(room()).forget_old()
    announce()
    connected = runtime.get_instance().is_active_session
    chores = [
        asyncio.create_task(every(SECONDS_BETWEEN_SWEEPS, uploads().sweep, connected)),
        asyncio.create_task(every(presence.SECONDS, presence.report, room(), connected)),
    ]
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None:
        # Every run of a page is a thread of its own, and glibc keeps what such threads have freed: 100 MB after a tour.
        chores.append(asyncio.create_task(every(SECONDS_BETWEEN_TRIMS, trim, 0)))
    if not config.get_option("server.headless"):  # for an st.App, Streamlit does not
        open_browser(get_url("localhost"))
    try:
        yield
    finally:
        for chore in chores:
            chore.cancel()
        uploads().clear()
        if any(runs_folder().glob("*/run.json")):  # without runs no cluster has been started
            await asyncio.to_thread(manager().close)


async def every(seconds: float, chore: Callable[..., None], *arguments) -> None:
    """Call `chore` every so many seconds while the server runs."""
    while True:
        await asyncio.sleep(seconds)
        with contextlib.suppress(OSError, sqlite3.Error):  # e.g. a full disk: retry next time
            await asyncio.to_thread(chore, *arguments)


def import_pages() -> None:
    """Import at start-up, in one thread, everything that pages import at module level.

    Otherwise visitors who arrive together import in parallel, and an import that one thread aborts (Streamlit stops a
    page's script by an exception) leaves a half-initialised module to the others. Excludes torch (see ui.model_cache).
    """
    for name in imports_of_pages():
        import_module(name)


def imports_of_pages() -> Iterator[str]:
    """Modules that course.py and the pages import at top level, and all modules in ui/ and sections/."""
    for file in [ROOT / "course.py", *sorted((ROOT / "pages").glob("*.py"))]:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module
    for folder in ("ui", "sections"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
