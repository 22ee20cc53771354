"""Imports point down only, as docs/ARCHITECTURE.md says: pages → sections → ui → plots → minibert; pages, sections →
jobs, examination → minibert. Sections of two lessons know nothing of each other. No circle of files; what one reads in
one sitting stays short."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from minibert.text.parsing import undisturbed

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("pages", "sections", "ui", "plots", "jobs", "minibert", "lessons", "examination", "servers", "bench")
MAY_IMPORT = {
    "app.py": {"ui"},
    "course.py": {"ui"},
    "pages": {"sections", "ui", "plots", "jobs", "minibert", "examination"},
    "sections": {"ui", "plots", "jobs", "minibert", "examination"},
    "ui": {"plots", "jobs", "minibert"},
    "plots": {"minibert"},
    "jobs": {"minibert"},
    "lessons": {"minibert"},  # what the notebooks share; the notebooks themselves also draw
    "examination": {"minibert"},
    "servers": {"minibert"},  # its folders; it starts the others by their names, as processes
    "minibert": set(),  # as minibert/command_line/classroom.py starts the app and the servers
}
# A screen library belongs above the line; minibert, plots and jobs must also work in a notebook or a terminal.
SCREEN = {
    "minibert": {"streamlit", "plotly"},
    "plots": {"streamlit", "torch"},
    "jobs": {"streamlit", "plotly"},
    "lessons": {"streamlit", "plotly"},
    "examination": {"streamlit", "plotly"},
}
NOTEBOOKS = {"minibert", "plots", "lessons"}


@cache  # many tests read the same files
def parse(source: str) -> ast.Module:
    return undisturbed(ast.parse, source)


def imported(source: str) -> set[str]:
    """The top-level packages a module imports, anywhere in it, functions and TYPE_CHECKING blocks included."""
    names = set()
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module" and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                names.add(first.value.split(".")[0])
    return names


def modules(home: str) -> list[Path]:
    return [path] if (path := ROOT / home).is_file() else sorted(path.rglob("*.py"))


@pytest.mark.parametrize("home", MAY_IMPORT)
def test_imports_point_down(home):
    assert modules(home)
    above = {*FOLDERS, "app", "course", "tests"} - MAY_IMPORT[home] - {home} | SCREEN.get(home, set())
    for path in modules(home):
        source = path.read_text(encoding="utf-8")
        assert not imported(source) & above, f"{path.relative_to(ROOT)} imports {imported(source) & above}"
        for node in ast.walk(parse(source)):
            if isinstance(node, ast.ImportFrom) and node.level:  # a relative import stays inside its folder
                assert node.level < len(path.relative_to(ROOT).parts), f"{path}: line {node.lineno}"


def test_notebooks_use_the_model_and_its_figures_only():
    notebooks = sorted((ROOT / "lessons").glob("*/*.ipynb"))
    assert notebooks
    for path in notebooks:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found = set().union(*(imported("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"))
        other = found & {*FOLDERS, "app", "course", "tests", "streamlit", "transformers"} - NOTEBOOKS
        assert not other, f"{path.relative_to(ROOT)} imports {sorted(other)}"


def test_an_arrow_that_points_up_is_seen():
    assert imported("def f():\n    from ui.text import literal\nimport torch.nn as nn") == {"ui", "torch"}
    assert imported("import importlib\nimportlib.import_module('pages.home')") >= {"pages"}


# --- no circle of files -----------------------------------------------------------------------------------------------


def imports_of(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom | ast.Call]:
    """All imports, those in functions too, statements and calls of `import_module`; what stands under
    `if TYPE_CHECKING:` is never run."""
    for node in ast.iter_child_nodes(tree):
        called = getattr(node, "func", None)  # `import_module(…)` or `importlib.import_module(…)`
        named = getattr(called, "attr", getattr(called, "id", ""))
        if isinstance(node, ast.Import | ast.ImportFrom) or named == "import_module":
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from imports_of(ast.Module(node.orelse, []))
        else:
            yield from imports_of(node)


def module_name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def named_in(call: ast.Call, name: str) -> str:
    """What is known of an `import_module` in the module of this name: "a.b", or "a." for any file of a."""
    if isinstance(call.args[0], ast.Constant):
        return call.args[0].value
    known = ""
    for part in getattr(call.args[0], "values", ()):  # of an f-string
        if isinstance(part, ast.FormattedValue) and ast.unparse(part.value) != "__name__":
            break
        known += part.value if isinstance(part, ast.Constant) else name
    return known


def import_graph(folder: str, root: Path = ROOT) -> dict[str, set[str]]:
    """file → the files of the same folder that it imports, as paths from `root`."""
    files = {module_name(path, root): str(path.relative_to(root)) for path in sorted((root / folder).rglob("*.py"))}
    graph = {}
    for name, file in files.items():
        package = name if file.endswith("__init__.py") else name.rpartition(".")[0]
        targets = set()
        for node in imports_of(parse((root / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
                continue
            if isinstance(node, ast.Call):
                known = named_in(node, name)
                targets |= {one for one in files if one == known or (known.endswith(".") and one.startswith(known))}
                continue
            start = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (start, node.module)))
            # `from a import b`: the file b in the folder a, or something that a itself holds
            targets |= {inside if (inside := f"{module}.{alias.name}") in files else module for alias in node.names}
        graph[file] = {files[target] for target in targets if target in files}
    return graph


def circle_of(graph: dict[str, set[str]]) -> list[str]:
    """The files of one circle, each importing the next; empty without one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1][::-1]  # graphlib names each file before those that need it
    return []


@pytest.mark.parametrize("folder", ["minibert", "plots", "jobs", "ui", "examination", "servers"])
def test_no_circle_of_files(folder):
    graph = import_graph(folder)
    assert len(graph) > 3 and any(graph.values())
    circle = circle_of(graph)
    assert not circle, f"a circle of files: {' → '.join(circle)}"


def test_sections_of_two_lessons_never_meet():
    graph = import_graph("sections")
    assert len(graph) > 3 and not circle_of(graph)
    for file, targets in graph.items():
        strangers = [target for target in targets if Path(target).parent != Path(file).parent]
        assert not strangers, f"{file} imports {strangers}"


def test_a_circle_is_seen_and_named(tmp_path):
    room = tmp_path / "house" / "room"
    room.mkdir(parents=True)
    (tmp_path / "house" / "__init__.py").write_text("")
    (room / "__init__.py").write_text("from house import a\n")
    (tmp_path / "house" / "a.py").write_text("def f():\n    from house.room.b import g\n")
    (room / "b.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import other\n")
    (room / "other.py").write_text("import house.room.b\nfrom .. import a\n")
    assert import_graph("house", tmp_path) == {
        "house/__init__.py": set(),
        "house/a.py": {"house/room/b.py"},
        "house/room/__init__.py": {"house/a.py"},
        "house/room/b.py": set(),
        "house/room/other.py": {"house/room/b.py", "house/a.py"},
    }
    assert circle_of(import_graph("house", tmp_path)) == []
    (room / "b.py").write_text("class C:\n    def f(self):\n        from .other import x\n")
    circle = circle_of(import_graph("house", tmp_path))
    assert len(circle) > 2 and circle[0] == circle[-1]
    graph = import_graph("house", tmp_path)
    assert all(after in graph[before] for before, after in pairwise(circle))


@pytest.mark.parametrize(
    "call",
    [
        'import_module(f"house.room.{name}")',
        'importlib.import_module(f"{__name__}.{name}").x',
        "import_module('house.room.b')",
    ],
)
def test_a_circle_by_a_name_made_at_run_time_is_seen(call, tmp_path):
    room = tmp_path / "house" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text(f"def f(name):\n    return {call}\n")
    (room / "a.py").write_text("")
    (room / "b.py").write_text("import house.room\n")
    assert len(circle_of(import_graph("house", tmp_path))) == 3


# --- what is to be read in one sitting --------------------------------------------------------------------------------

MOST_LINES = {"minibert/model.py": 330, "minibert/relatives/*.py": 80, "pages/*.py": 120, "sections/*/*.py": 250}
NO_RELATIVES = {"minibert/relatives/__init__.py", "minibert/relatives/base.py"}


def too_long(root: Path = ROOT) -> list[str]:
    """What has more lines than MOST_LINES allows, and how many."""
    found = []
    for pattern, most in MOST_LINES.items():
        for path in sorted(set(root.glob(pattern)) - {root / name for name in NO_RELATIVES}):
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) > most:
                found.append(f"{path.relative_to(root)} has {lines} lines, at most {most}")
    return found


def test_what_is_read_in_one_sitting_stays_short():
    assert (ROOT / "minibert" / "model.py").is_file()
    assert too_long() == []


def test_a_page_has_at_most_one_function_of_its_own():
    for path in sorted((ROOT / "pages").glob("*.py")):
        tree = parse(path.read_text(encoding="utf-8"))
        own = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert len(own) <= 1, f"{path.name} defines {own}"


def test_a_long_relative_is_seen(tmp_path):
    folder = tmp_path / "minibert" / "relatives"
    folder.mkdir(parents=True)
    (folder / "short.py").write_text("x = 1\n" * 80)
    (folder / "base.py").write_text("x = 1\n" * 81)
    assert too_long(tmp_path) == []
    (folder / "long.py").write_text("x = 1\n" * 81)
    assert too_long(tmp_path) == ["minibert/relatives/long.py has 81 lines, at most 80"]


# --- no two rooms of minibert both ways -------------------------------------------------------------------------------


def rooms_both_ways(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Pairs of folders of a package that import each other; files on top of the package are in no room."""
    arrows = {
        (Path(file).parts[1], Path(target).parts[1])
        for file, targets in graph.items()
        for target in targets
        if min(len(Path(file).parts), len(Path(target).parts)) > 2
    }
    return {(one, other) for one, other in arrows if one < other and (other, one) in arrows}


def test_no_two_rooms_of_minibert_import_each_other():
    assert not rooms_both_ways(import_graph("minibert"))


def test_two_rooms_that_import_each_other_are_seen():
    graph = {"m/a/x.py": {"m/b/y.py", "m/top.py"}, "m/b/z.py": {"m/a/w.py"}, "m/top.py": {"m/c/v.py"}}
    assert rooms_both_ways(graph | {"m/c/v.py": {"m/top.py", "m/a/x.py"}}) == {("a", "b")}
