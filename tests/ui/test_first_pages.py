"""The first pages of a fresh server, opened by several readers in the same moment: all import at once."""

import ast
import asyncio
import json
import subprocess
import sys

import pytest

from servers.visitor import HeadlessVisitor
from tests.server import LESSON_PAGES, ROOT, fresh_server
from ui.lesson import Lesson

# Home and what imports most before it shows: pandas, plotly, readers of vocabularies.
PAGES = ("home", "tokenization", "attention", "parameters", "masking", "service")
PATIENCE = 240  # seconds
OPENED = """
import json, sys
import ui.model_cache, ui.model_widgets, ui.navigation, ui.translations, ui.lesson, ui.figures, ui.runs
front = sorted(sys.modules)
from ui.door.opening import import_pages
import_pages()
after = sorted(sys.modules)
from streamlit.testing.v1 import AppTest
home = AppTest.from_file(sys.argv[1], default_timeout=120).run()
assert not home.exception and home.markdown
print(json.dumps([front, after, sorted(sys.modules)]))
"""
HEAVY = {"sklearn", "umap", "captum", "bertviz", "transformers", "distributed", "scipy.stats", "torch._dynamo"}


async def visit(address: str, name: str) -> HeadlessVisitor:
    visitor = HeadlessVisitor(address, PATIENCE)
    await visitor.open("" if name == "home" else name)
    await visitor.close()
    return visitor


async def visit_together(address: str) -> list[HeadlessVisitor]:
    return await asyncio.gather(*(visit(address, name) for name in PAGES))


def test_all_that_pages_import_is_there_before_anyone_comes_and_nothing_heavy_on_the_way_in():
    """Whoever comes first imports nothing of ours: no other can meet half of it."""
    command = [sys.executable, "-c", OPENED, str(ROOT / "pages" / "home.py")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    front, after, home = map(set, json.loads(run.stdout))
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
    assert not home & HEAVY  # nor does Home


@pytest.mark.release
@pytest.mark.servers
def test_several_pages_open_at_once_on_a_fresh_server(tmp_path):
    with fresh_server(tmp_path) as address:
        visitors = asyncio.run(visit_together(address))
    for name, visitor in zip(PAGES, visitors, strict=True):
        assert not visitor.exceptions, (name, visitor.exceptions)
        assert f"# {Lesson(name).title}" in visitor.text.splitlines()
        assert {page or "home" for page in visitor.pages} == LESSON_PAGES | {"classroom"}, name  # which the menu hides
