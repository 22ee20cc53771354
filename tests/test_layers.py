"""The arrows of DESIGN.md point down only: pages → ui → plots → minibert, pages → jobs → minibert."""

import ast
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("pages", "ui", "plots", "jobs", "minibert", "lessons", "bench")
MAY_IMPORT = {
    "app.py": {"ui"},
    "pages": {"ui", "plots", "jobs", "minibert"},
    "ui": {"plots", "jobs", "minibert"},
    "plots": {"minibert"},
    "jobs": {"minibert"},
    "lessons": {"minibert"},  # what the notebooks share; the notebooks themselves also draw
    "minibert": set(),
}
# A screen library belongs above the line; minibert, plots and jobs must also work in a notebook or a terminal.
SCREEN = {
    "minibert": {"streamlit", "plotly"},
    "plots": {"streamlit", "torch"},
    "jobs": {"streamlit", "plotly"},
    "lessons": {"streamlit", "plotly"},
}
NOTEBOOKS = {"minibert", "plots", "lessons"}


def imported(source: str) -> set[str]:
    """The top-level packages a module imports, anywhere in it, functions and TYPE_CHECKING blocks included."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module" and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                names.add(first.value.split(".")[0])
    return names


def modules() -> list[Path]:
    return [ROOT / "app.py", *(path for name in MAY_IMPORT for path in sorted((ROOT / name).rglob("*.py")))]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    home = path.relative_to(ROOT).parts[0]
    found = imported(path.read_text(encoding="utf-8"))
    above = (found & {*FOLDERS, "app", "tests"}) - MAY_IMPORT[home] - {home}
    assert not above, f"{path.relative_to(ROOT)} imports {sorted(above)}"
    assert not found & SCREEN.get(home, set()), f"{path.relative_to(ROOT)} imports {found & SCREEN[home]}"


@pytest.mark.parametrize("path", sorted((ROOT / "lessons").glob("*/*.ipynb")), ids=lambda path: path.parent.name)
def test_notebooks_use_the_model_and_its_figures_only(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    found = set().union(*(imported("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"))
    other = found & {*FOLDERS, "app", "tests", "streamlit", "transformers"} - NOTEBOOKS
    assert not other, f"{path.relative_to(ROOT)} imports {sorted(other)}"


def test_relative_imports_stay_inside_their_folder():
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level < len(path.relative_to(ROOT).parts), f"{path}: line {node.lineno}"


def test_an_arrow_that_points_up_is_seen():
    assert imported("def f():\n    from ui.text import literal\nimport torch.nn as nn") == {"ui", "torch"}
    assert imported("import importlib\nimportlib.import_module('pages.home')") >= {"pages"}
