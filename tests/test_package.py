"""The package: what it needs is declared and pinned; installed, it needs no clone and writes nothing into itself."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import time
import tomllib
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import minibert
from servers import room
from servers.visitor import HeadlessVisitor, open_parts
from tests.test_layers import FOLDERS, MAY_IMPORT, ROOT, imported, modules
from tests.waiting import finished, until

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
PATIENT = 600  # seconds: nothing waits for them, they only end what hangs


def pins(name: str) -> dict[str, str]:
    """Distribution → version, as a file of pinned requirements says."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = [Requirement(line.partition("#")[0]) for line in lines if line and not line.startswith(("#", "-r"))]
    return {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in found}


@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_the_pinned_files_hold_what_the_package_asks_for(extra):
    declared = [Requirement(text) for text in (EXTRAS[extra] if extra else PROJECT["project"]["dependencies"])]
    declared = [one for one in declared if one.name != "minibert"]  # `dev` takes in the other extras
    pinned = pins(f"requirements-{extra}.txt" if extra else "requirements.txt")
    assert {canonicalize_name(one.name) for one in declared} == set(pinned)
    for one in declared:
        assert one.specifier.contains(pinned[canonicalize_name(one.name)]), str(one)


def test_every_import_is_declared():
    listed = [*PROJECT["project"]["dependencies"], *(text for texts in EXTRAS.values() for text in texts)]
    declared = {canonicalize_name(Requirement(text).name) for text in listed}
    given_by = packages_distributions()
    names = set().union(*(imported(path.read_text(encoding="utf-8")) for home in MAY_IMPORT for path in modules(home)))
    names -= {*sys.stdlib_module_names, *FOLDERS, "app", "course"}
    foreign = {name for name in names if not declared & {canonicalize_name(one) for one in given_by.get(name, [name])}}
    assert not foreign


def test_the_wheel_takes_every_folder_in():
    taken = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {*MAY_IMPORT, "checkpoints", ".streamlit"} - {"minibert"} == set(taken)
    assert all(inside == f"minibert/classroom/{name}" for name, inside in taken.items())


def installed(folder: Path) -> tuple[Path, Path]:
    """A new environment with the wheel, which finds all other packages where this process does → its programs, and
    where its packages lie."""
    venv.create(folder, symlinks=True)
    programs = folder / "bin"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.check_output([programs / "python", "-c", ask], text=True).strip())
    others = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    lines = [f"import site; site.addsitedir({path!r})\n" for path in sorted(others)]
    (packages / "others.pth").write_text("".join(lines), encoding="utf-8")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    install = ["install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run([sys.executable, "-m", "pip", "--python", programs / "python", *install], check=True)
    return programs, packages


@pytest.mark.release
@pytest.mark.servers
@pytest.mark.trains
def test_the_installed_package_needs_no_clone_and_writes_nothing_into_itself(tmp_path):
    programs, packages = installed(tmp_path / "environment")
    about = f"minibert-{minibert.__version__}.dist-info"
    assert {path.name for path in packages.iterdir()} == {"minibert", about, "others.pth"}
    before = sorted(packages.rglob("*"))

    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (elsewhere / "servers").mkdir()  # a folder of the user's, of a name that is one of ours
    (elsewhere / "servers" / "__main__.py").write_text("raise SystemExit('not this one')", encoding="utf-8")
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MINIBERT_", "PYTHON", "XDG_"))}
    environment = known | {"HOME": str(home), "PYTHONUNBUFFERED": "1"}

    def said(*arguments: str) -> str:
        command = [programs / "minibert", *arguments]
        return subprocess.run(
            command, cwd=elsewhere, env=environment, check=True, stdout=subprocess.PIPE
        ).stdout.decode()

    @contextmanager
    def opened(*arguments: str) -> Iterator[tuple[str, Path]]:
        """A server at a free port, as soon as it answers → its address, and the file with what it says."""
        (port,) = room.free_ports(1)
        log = elsewhere / f"{arguments[0]}.txt"
        with open(log, "wb") as file:
            command = [programs / "minibert", *(text.format(port=port) for text in arguments)]
            process = subprocess.Popen(command, cwd=elsewhere, env=environment, stdout=file, stderr=file)
        try:
            until(lambda: room.healthy(f"http://127.0.0.1:{port}") or process.poll() is not None, PATIENT)
            assert process.poll() is None, log.read_text(errors="replace")
            yield f"http://127.0.0.1:{port}", log
        finally:
            process.terminate()
            process.wait(60)

    assert json.loads(said("fill", "the [MASK] barked", "--json"))
    shipped = ("--vocab", "checkpoints/mini-zh/vocab.txt")
    assert json.loads(said("tokenize", *shipped, "你好"))["tokens"][1:-1] == ["你", "好"]
    said("pretrain", "--toy", "--out", "toy-bert", "--steps", "2")
    assert json.loads(said("fill", "the [MASK] barked", "--model", "toy-bert", "--json"))

    streamlit = ("--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true")
    with opened("app", *streamlit) as (address, log):
        finished(open_all(address))
    assert "Traceback" not in log.read_text(errors="replace")

    # cold: before it has opened every page a class waits up to ten minutes for an idle machine; here other tests run
    one = ("--cold", "--servers", "1", "--workers", "1", "--host", "127.0.0.1", "--port", "{port}")
    with opened("classroom", *one) as (address, log):
        finished(train(address))
    assert "Traceback" not in log.read_text(errors="replace")

    assert any((home / ".local" / "share" / "minibert" / "runs").glob("*/run.json"))
    assert sorted(packages.rglob("*")) == before


async def open_all(address: str) -> None:
    """Every page and every part of it."""
    visitor = HeadlessVisitor(address, PATIENT)
    await visitor.open()
    assert len(visitor.pages) > 30 and visitor.text
    for page in visitor.pages:
        await visitor.go(page)
        async for _title in open_parts(visitor):
            pass
        assert not visitor.exceptions, page
    await visitor.close()


async def train(address: str) -> None:
    """Train what *One output layer* offers, until it has learned something."""
    visitor = HeadlessVisitor(address, PATIENT)
    await visitor.open("output_layer")
    (button,) = [widget for widget in visitor.offered("button") if widget.key == "train"]
    await visitor.click(button)
    deadline = time.monotonic() + PATIENT
    while not re.search(r"\*\*(training|finished)", visitor.text):
        assert time.monotonic() < deadline and not re.search(r"\*\*(failed|lost)", visitor.text), visitor.text
        await visitor.go("input")
        await visitor.go("output_layer")
    assert not visitor.exceptions
    await visitor.close()
