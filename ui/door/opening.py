"""What happens before the first visitor is let in, and after the last has gone."""

import ast
import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from pathlib import Path

from streamlit import config
from streamlit.cli_util import open_browser
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server.server_util import get_url

from ui.door.uploads import SECONDS_BETWEEN_SWEEPS, clear_leftovers
from ui.door.uploads import store as uploads

ROOT = Path(__file__).resolve().parents[2]


@contextlib.asynccontextmanager
async def opening(_app) -> AsyncIterator[None]:
    """The life of the server: st.App's `lifespan`."""
    # Until course.py has run once, Streamlit would take pages/ for a menu of its own: whoever opens a link to a lesson
    # first would get that file alone, without menu, style and door.
    PagesManager.uses_pages_directory = False
    import_pages()
    from streamlit import runtime

    from ui.folders import runs_folder
    from ui.room import presence
    from ui.room.key import announce
    from ui.room.store import room
    from ui.room.visitors import Visitors
    from ui.runs import manager

    clear_leftovers(runs_folder())
    Visitors(room()).forget_old()
    announce()
    connected = runtime.get_instance().is_active_session
    chores = [
        asyncio.create_task(every(SECONDS_BETWEEN_SWEEPS, uploads().sweep, connected)),
        asyncio.create_task(every(presence.SECONDS, presence.tell, room(), connected)),
    ]
    if not config.get_option("server.headless"):  # Streamlit does not, of an App
        open_browser(get_url("localhost"))
    try:
        yield
    finally:
        for chore in chores:
            chore.cancel()
        uploads().clear()
        if any(runs_folder().glob("*/run.json")):  # else nobody has begun a run, and there is no cluster to end
            await asyncio.to_thread(manager().close)


async def every(seconds: float, chore: Callable[..., None], *arguments) -> None:
    """Do it as long as the server lives."""
    while True:
        await asyncio.sleep(seconds)
        with contextlib.suppress(OSError, sqlite3.Error):  # a full disk: the next time
            await asyncio.to_thread(chore, *arguments)


def import_pages() -> None:
    """Import all that the pages import as they are opened, once and in one thread.

    Visitors who come together would each begin to import; and an import that is broken off in one thread, as Streamlit
    ends a page's script by an exception, leaves half a module to the others. torch is not among it (see ui.models).
    """
    for name in imports_of_pages():
        import_module(name)


def imports_of_pages() -> Iterator[str]:
    """The modules that pages import when they are run, and all parts of lessons."""
    for file in [ROOT / "course.py", *sorted((ROOT / "pages").glob("*.py"))]:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module
    for folder in ("ui", "sections"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
