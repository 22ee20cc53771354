"""The course in its order, and the links at the foot of a page."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.server import LESSON_PAGES
from ui.navigation import ROOT


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch):
    """Its thread would go on loading a model, and drawing random numbers, while the next tests run."""
    monkeypatch.setattr("ui.models._warm_up_once", lambda pause: None)


def open_app(page="home"):
    app = AppTest.from_file(str(ROOT / "course.py"), default_timeout=60).run()
    return app if page == "home" else app.switch_page(f"pages/{page}.py").run()


def stops_of(app):
    return [stop for stops in app.session_state["_course"].values() for stop in stops]


def test_every_page_that_exists_is_in_the_course():
    stops = stops_of(open_app())
    assert stops[0].name == "home"
    assert {stop.name for stop in stops} == LESSON_PAGES


def test_the_foot_leads_on():
    app = open_app()
    following = stops_of(app)[1]
    labels = [link.label for link in app.get("page_link")]
    assert labels[-1] == f"Next: **{following.title}**"


def test_titles_and_addresses_are_distinct():
    stops = stops_of(open_app())
    assert len({stop.name for stop in stops}) == len({stop.title for stop in stops}) == len(stops)
