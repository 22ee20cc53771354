"""The first pages of a fresh server, opened by several readers in the same moment: all import at once."""

import ast
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.server import LESSON_PAGES, ROOT, fresh_server
from tests.visitor import Visitor
from ui.lesson import Lesson

# Home and what imports most before it shows: pandas, plotly, readers of vocabularies.
PAGES = ("home", "tokenization", "attention", "parameters", "masking", "service")
PATIENCE = 240  # seconds
OPENED = """
import json, sys
import ui.models, ui.navigation, ui.translations, ui.lesson, ui.figures, ui.runs
front = sorted(sys.modules)
from ui.door.opening import import_pages
import_pages()
print(json.dumps([front, sorted(sys.modules)]))
"""


def visit(address: str, name: str, together: threading.Barrier) -> tuple[str, list[str], list[str]]:
    """What a browser is told that opens the page `name` as soon as all the others do: its title, the pages in its menu
    and the exceptions that it shows."""
    visitor = Visitor(address)
    visitor.get("/").read()
    together.wait()
    session = visitor.open("" if name == "home" else name, timeout=PATIENCE)
    menu = next(one.navigation for one in session.messages[::-1] if one.WhichOneof("type") == "navigation")
    pages = [page.url_pathname or "home" for page in menu.app_pages if not page.is_hidden]
    title = next(one.heading.body for one in session.elements if one.HasField("heading") and one.heading.tag == "h1")
    session.close()
    return title, pages, session.exceptions


def test_all_that_pages_import_is_there_before_anyone_comes_and_nothing_heavy_on_the_way_in():
    """Whoever comes first imports nothing of ours: no other can meet half of it."""
    run = subprocess.run([sys.executable, "-c", OPENED], cwd=ROOT, capture_output=True, text=True, check=True)
    front, after = map(set, json.loads(run.stdout))
    files = [ROOT / "course.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "sections").rglob("*.py")]
    wanted = set()
    for file in [*files, *(ROOT / "ui").rglob("*.py")]:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                wanted.add(node.module)
            elif isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
    assert not wanted <= front | {"__future__"} and wanted <= after | {"__future__"}, sorted(wanted - after)
    assert not front & {"torch", "transformers", "pandas", "distributed", "sklearn", "scipy"}
    assert "torch" not in after  # which takes seconds, and a page shows before


@pytest.mark.release
@pytest.mark.servers
def test_several_pages_open_at_once_on_a_fresh_server(tmp_path):
    together = threading.Barrier(len(PAGES))
    with fresh_server(tmp_path) as address, ThreadPoolExecutor(len(PAGES)) as readers:
        seen = dict(zip(PAGES, readers.map(lambda name: visit(address, name, together), PAGES), strict=True))
    for name, (title, menu, exceptions) in seen.items():
        assert not exceptions, (name, exceptions)
        assert title == Lesson(name).title
        assert set(menu) == LESSON_PAGES, name
