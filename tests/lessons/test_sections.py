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
    sections, texts = Lesson(name).sections, own + source("ui")
    parts = {*re.findall(r'"([^"\n]*)"', texts), *re.findall(r"'([^'\n]*)'", texts)}
    # such as "What came out: {title}"
    filled = {part for part in parts if "{" in part and len(re.sub(r"\{.*?\}", "", part)) > 8}
    patterns = [re.sub(r"\\\{.*?\\\}", ".+", re.escape(part)) for part in filled]
    assert not [one for one in sections if one not in parts and not any(re.fullmatch(some, one) for some in patterns)]
    asked = re.findall(r'lesson\.(?:show|section)\(\s*"([^"]+)"', own)
    assert not [heading for heading in asked if heading not in sections]
