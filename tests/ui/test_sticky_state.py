"""What was set on a page is there again in a tab that is opened again, and when the reader comes back to the page."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.driver import whole

COURSE = """
from ui.navigation import CoursePage, open_course

open_course({"Course": [CoursePage(name, name, ":material/home:") for name in ("one", "two")]}).run()
"""
SET = """
import streamlit as st

from ui.sticky_state import keep

keep("one", {"rate": 5}, prefixes=("mine-",))
if st.checkbox("tab", True, key="_tab"):
    st.slider("rate", 1, 9, key="rate")
    st.text_input("text", key="mine-text")
"""
OTHER = """
import streamlit as st

st.slider("another", 1, 9, 3, key="rate")
"""
GIVEN = """
import streamlit as st

from ui.sticky_state import sticky_uploader

st.text(", ".join(file.name for file in sticky_uploader("one", "file", "Your file", ["txt"])))
st.button("anything else")
"""


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A course of two pages: the first is what is asked for, the other has one key that the first may have, too."""

    def course(page: str) -> AppTest:
        files = {"app/course": COURSE, "pages/one": page, "pages/two": OTHER}  # beside pages/, a page would run alone
        for path, code in files.items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / f"{path}.py").write_text(code, encoding="utf-8")
        return whole(AppTest.from_file(str(tmp_path / "app" / "course.py"), default_timeout=60).run())

    monkeypatch.setattr("ui.navigation.ROOT", tmp_path)
    return course


def go(app: AppTest, page: str, **link) -> AppTest:
    """To another page, by the menu or by a link."""
    app.switch_page(f"../pages/{page}.py")
    for name, value in link.items():
        app.query_params[name] = value
    return whole(app.run())


def shown(app: AppTest) -> tuple[int, str]:
    return app.slider(key="rate").value, app.text_input(key="mine-text").value


def test_a_closed_tab_and_a_page_that_was_left_by_the_menu_lose_nothing(opened):
    app = opened(SET)
    assert shown(app) == (5, "")
    app.slider(key="rate").set_value(8).run()
    app.text_input(key="mine-text").set_value("hello").run()
    app.checkbox(key="_tab").uncheck().run()
    app.checkbox(key="_tab").check().run()
    assert shown(app) == (8, "hello")
    assert go(app, "two").slider(key="rate").value == 3
    assert shown(go(app, "one")) == (8, "hello")


def test_a_link_that_says_what_is_on_the_page_counts_for_more(opened):
    app = opened(SET)
    app.slider(key="rate").set_value(8).run()
    go(app, "two")
    assert shown(go(app, "one", task="pair")) == (5, "")


def test_a_file_is_there_after_coming_back_until_the_reader_takes_it_out(opened):
    app = opened(GIVEN)
    file = ("mine.txt", b"hello", "text/plain")
    app.file_uploader(key="file").set_value([file]).run()
    assert not go(app, "two").text
    assert go(app, "one").text[0].value == "mine.txt"
    app.button[-1].click().run()
    assert whole(app).text[0].value == "mine.txt"
    app.button(key="file-forget").click().run()
    assert app.text[0].value == ""
    for files, shown in (([file], "mine.txt"), ([], "")):
        app.file_uploader(key="file").set_value(files).run()
        assert whole(app).text[0].value == shown
