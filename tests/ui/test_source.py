"""The source shown is the source that runs."""

import html
import inspect
import re
from pathlib import Path

import pytest
import streamlit as st

from ui import lesson, source, stepper, text


def shown(page: str) -> list[str]:
    """The code lines of the HTML, without markup."""
    cells = re.findall(r'<td class="mb-line"[^>]*>\d+</td><td>(.*?)</td></tr>', page, re.S)
    return [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in cells]


@st.fragment
def decorated():
    pass


@pytest.mark.parametrize("thing", [stepper.stepper, lesson.Lesson, lesson.Lesson.show, decorated, source, text])
def test_lines_are_the_file_s_lines(thing):
    lines, start, path = source.source_of(thing)
    file = Path(inspect.getsourcefile(inspect.unwrap(thing))).read_text("utf-8").splitlines()
    assert file[start - 1 : start - 1 + len(lines)] == lines
    assert (Path(source.ROOT) / path).exists()
    assert [line or " " for line in lines] == shown(source.source_html(lines, start))


def test_a_class_is_found_though_another_thread_disturbs_the_parser(monkeypatch):
    class Other(lesson.Lesson):
        pass

    found, failures = inspect.getsourcelines, [SystemError("AST constructor recursion depth mismatch")] * 3

    def disturbed(thing):
        if failures:
            raise failures.pop()
        return found(thing)

    monkeypatch.setattr(inspect, "getsourcelines", disturbed)
    assert source.source_of(Other)[0][0].strip() == "class Other(lesson.Lesson):"


def test_lines_with_the_wanted_text_are_marked():
    lines, start, _path = source.source_of(stepper.stepper)
    page = source.source_html(lines, start, "session_state")
    assert page.count("<mark>") == sum("session_state" in line for line in lines) > 1
    broken = ["    def f(", '  """']  # no whole Python
    assert shown(source.source_html(broken, 7)) == broken
    assert page.count("mb-first") == 1 and page.index("mb-first") < page.index("<mark>")
