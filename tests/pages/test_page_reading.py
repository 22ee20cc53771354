"""The road through the paper: each paragraph has its links, and they reach the browser as they stand in the lesson."""

import ast
import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from sections.reading.road import LINK
from tests.pages.driver import ROOT, open_page
from ui.lesson import Lesson

LESSON = Lesson("reading")
CALLS = [one for one in ast.walk(ast.parse((ROOT / "course.py").read_text("utf-8"))) if isinstance(one, ast.Call)]
PAGES = {call.args[0].value for call in CALLS if ast.unparse(call.func) == "CoursePage"}


def rows(chapter: str) -> list[str]:
    """The paragraphs of a chapter; the first two lines of a table are its head."""
    tables = [block for block in LESSON.section(chapter)[1].split("\n\n") if LINK.search(block)]
    return [line for table in tables for line in table.splitlines()[2:]]


@pytest.mark.parametrize("chapter", LESSON.sections)
def test_every_paragraph_leads_to_pages_of_the_course(monkeypatch, chapter):
    linked = []
    monkeypatch.setattr("sections.reading.road.find_page", lambda name: type("Page", (), {"name": name, "title": name}))
    monkeypatch.setattr("sections.reading.road.link_to", lambda name, _label, **to: linked.append((name, to)))
    open_page("reading", part=chapter)
    written = [LINK.findall(row) for row in rows(chapter)]
    assert written and all(written)
    addresses = [urlsplit(address) for row in written for _label, address in row]
    found = [(name, to["query_params"] or {}) for name, to in linked]
    assert found == [(url.path[1:], dict(parse_qsl(url.query))) for url in addresses]
    assert {name for name, _query in found} <= PAGES


def test_the_lead_of_bert_is_the_difference_of_the_scores():
    scores = re.findall(r"\| ([\d.]+) \| ([\d.]+) \| \*\*([\d.]+)\*\* \|", LESSON.section("6 Conclusion")[1])
    assert len(scores) == 8
    for gpt, base, ahead in scores:
        assert float(base) - float(gpt) == pytest.approx(float(ahead))
