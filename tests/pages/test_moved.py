"""A link to a part that has moved leads to where the part is now, with all else that it says."""

import pytest

from tests.pages.driver import open_page
from ui.moved import MOVED, place_now


def test_a_link_keeps_what_else_it_says():
    query = {"part": "BART restores", "noise": "deletion"}
    assert place_now("to_write", query) == ("to_write", {"part": "BART", "bart": "restores", "noise": "deletion"})
    assert place_now("nezha", {"part": "The claim"}) is None and place_now("nezha", {}) is None
    assert not [now for now in MOVED.values() if place_now(*now)]  # it does not go round


@pytest.mark.release
@pytest.mark.parametrize(("page", "query"), MOVED.values(), ids=map(" ".join, MOVED))
def test_the_place_is_there(runs_folder, page, query):
    kept = open_page(page, owner="me", **query).query_params
    assert all(kept[name] in (value, [value]) for name, value in query.items())
