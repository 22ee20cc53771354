"""The course in its order, and the links at the foot of a page."""

import pytest
from streamlit.testing.v1 import AppTest

from minibert.folders import ROOT
from tests.server import LESSON_PAGES


@pytest.fixture
def app(monkeypatch):
    # The warm-up's thread would go on loading a model, and drawing random numbers, while the next tests run.
    return AppTest.from_file(str(ROOT / "course.py"), default_timeout=60).run()


def test_every_page_that_exists_is_in_the_course_and_the_foot_leads_on(app):
    stops = [stop for stops in app.session_state["_course"].values() for stop in stops]
    assert stops[0].name == "home"
    assert {stop.name for stop in stops} == LESSON_PAGES
    assert len({stop.name for stop in stops}) == len({stop.title for stop in stops}) == len(stops)
    assert app.get("page_link")[-1].label == f"Next: **{stops[1].title}**"
