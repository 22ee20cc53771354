"""Every section of a lesson has its place on the page, and the page asks for none that there is not."""

import re
from functools import cache

import pytest

from tests.pages.driver import ROOT
from ui.lesson import LESSONS, Lesson

NAMES = sorted(path.parent.name for path in LESSONS.glob("*/en.md"))


@cache
def source(folder: str) -> str:
    return "\n".join(file.read_text("utf-8") for file in sorted((ROOT / folder).rglob("*.py")))


@pytest.mark.parametrize("name", NAMES)
def test_every_section_has_its_place(name):
    own = (ROOT / "pages" / f"{name}.py").read_text("utf-8") + source(f"sections/{name}")
    sections = Lesson(name).sections
    parts = re.findall(r"""["']([^"'\n]*)["']""", own + source("ui"))
    holes = [
        part for part in parts if "{" in part and len(re.sub(r"\{.*?\}", "", part)) > 8
    ]  # f"What came out: {name}"
    patterns = [re.sub(r"\\\{.*?\\\}", ".+", re.escape(part)) for part in holes]
    unseen = [
        one for one in sections if one not in parts and not any(re.fullmatch(pattern, one) for pattern in patterns)
    ]
    assert not unseen
    asked = re.findall(r'lesson\.(?:show|section)\(\s*"([^"]+)"', own)
    assert not [heading for heading in asked if heading not in sections]
