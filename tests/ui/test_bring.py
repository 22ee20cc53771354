"""Bring everyone to this page: who is offered it, on which server, and that nobody is moved."""

import pytest

from tests.pages.driver import link
from tests.ui.driver import opened
from ui import bring
from ui.navigation import CoursePage
from ui.room.entrance import visitors
from ui.room.key import digest
from ui.room.store import Store, room


@pytest.fixture
def there():
    """The store, as another server of the class has it open."""
    store = Store(room().path)
    yield store
    bring.take_back(store)


def on(page: str, owner: str = "student", **link):
    """A browser on a page of the course."""
    course = {"Part": [CoursePage(name, name, ":material/home:") for name in ("attention", "input")]}
    session = {"_owner": owner, "_course": course, "_pages": {}, "_here": page}
    return opened(bring.show_bring, session=session, **link)


def offered(app) -> bool:
    return "offer-later" in [button.key for button in app.button]


def test_everyone_is_offered_the_page_until_they_are_there(there):
    assert not offered(on("input"))
    bring.make_offer(there, "attention", {"layer": "2"})
    assert offered(on("attention")) and offered(on("attention", layer="3")) and not offered(on("attention", layer="2"))
    bring.take_back(there)
    assert not offered(on("attention"))


def test_who_says_not_now_is_asked_again_at_the_next_offer_only(there):
    bring.make_offer(there, "attention", {"layer": "2"})
    app = on("attention", layer="3")
    app.button(key="offer-later").click().run()
    assert not offered(app.run()) and link(app, "layer") == "3"
    bring.make_offer(there, "attention", {"layer": "1"})
    assert offered(app.run())


def test_the_teacher_offers_what_they_see_and_takes_it_back(there):
    visitors().make_teacher("teacher", "here", digest())
    app = on("attention", owner="teacher", layer="2", projector="1")
    assert not offered(app)
    app.button(key="bring-here").click().run()
    standing = bring.offer(there)
    assert (standing.page, standing.query) == ("attention", {"layer": "2"})
    app.button(key="bring-back").click().run()
    assert bring.offer(there) is None


def test_an_offer_ends_by_itself(there, monkeypatch):
    bring.make_offer(there, "attention", {})
    end = bring.offer(there).when + bring.SECONDS_OFFERED
    for now, stands in ((end - 1, True), (end + 1, False)):
        monkeypatch.setattr(bring.time, "time", lambda now=now: now)
        assert bool(bring.offer(there)) == stands
