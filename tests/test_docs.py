"""What the documents say can be done: their links lead somewhere, and the program takes their commands."""

import argparse
import re
import shlex

import pytest

from minibert.__main__ import parser
from tests.test_layers import ROOT

DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "lessons").glob("*.md")),
]
COMMANDS = parser()
NAMES = next(action.choices for action in COMMANDS._actions if isinstance(action, argparse._SubParsersAction))


def commands() -> list[str]:
    """Every command of the program that stands in a block of code of a document."""
    texts = [text.replace("\\\n", " ") for path in DOCUMENTS for text in blocks(path.read_text(encoding="utf-8"))]
    lines = [line for text in texts for line in text.splitlines()]
    return [line.removeprefix("python -m minibert ") for line in lines if line.startswith("python -m minibert ")]


def blocks(text: str) -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(path):
    text = path.read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert not [link for link in links if not (path.parent / link).exists()]


@pytest.mark.parametrize("command", commands())
def test_a_command_is_one_that_the_program_takes(command):
    assert COMMANDS.parse_args(shlex.split(command, comments=True)).command in NAMES


def test_every_command_is_shown_and_every_option_that_is_named_is_one():
    shown = {command.split()[0] for command in commands()}
    assert set(NAMES) - {"app"} <= shown  # `app` is `streamlit run app.py`
    text = (ROOT / "docs" / "COMMAND_LINE.md").read_text(encoding="utf-8")
    known = {option for name in NAMES.values() for action in name._actions for option in action.option_strings}
    others = {"--no-deps", "--nproc_per_node", "--help"}  # of pip, torchrun and every program
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z_-]*", text)) <= known | others
