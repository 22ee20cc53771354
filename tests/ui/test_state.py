"""What a link says is checked; what is not sense falls back quietly."""

import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.state.query_params import QueryParams

from tests.ui.driver import script
from ui import state


@pytest.fixture
def link(monkeypatch):
    values: dict[str, str] = {}
    monkeypatch.setattr(st, "query_params", values)
    return values


@pytest.mark.parametrize("bad", ["", "x", "1.5", "²", "٣", "1_0", " 3", "9" * 5000, "99", "-1", "--2", "1e1", "0x2"])
def test_a_bad_number_falls_back(link, bad):
    link["step"] = bad
    assert state.url_int("step", 2, 0, 5) == 2


def test_a_good_number_counts_and_a_choice_is_one_of_its_options(link):
    link.update(step="-3")
    assert state.url_int("step", 0, -5, 5) == -3
    assert state.url_int("missing", 7, 0, 9) == 7
    for said, chosen in (("../../etc/passwd", "a"), ("b", "b")):
        link["model"] = said
        assert state.url_choice("model", ["a", "b"], "a") == chosen


def test_defaults_and_long_texts_are_left_out(link):
    for text, left in (("hello", "hello"), ("", ""), ("x" * (state.MAX_URL_TEXT + 1), None), ("hi", None)):
        state.set_url("text", text, default="hi")
        assert link == ({} if left is None else {"text": left})
    state.set_url("text", None)
    assert link == {}
    link["text"] = "hi"
    state.set_url("text", "hi", default="hi")
    assert link == {"text": "hi"}, "opening a page writes nothing into its link: Back would come to the same page again"
    link["text"] = "y" * 10_000
    assert state.url_text("text", "default") == "y" * 10_000
    assert state.fits_link("字" * 400) and state.fits_link("a word " * 500) and not state.fits_link("字" * 500)


@pytest.fixture
def visit(monkeypatch, link):
    """A reader's session at a page, and how they came to this run."""
    came = SimpleNamespace(is_history_navigation=False)
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(state, "get_script_run_ctx", lambda **_: came)
    return came


def test_the_link_counts_when_a_page_is_opened_and_not_again(visit, link):
    assert not state.follow_link("step")
    link["step"] = "3"  # written by the page itself
    assert not state.follow_link("step")
    st.session_state[state.VISIT] = 2  # the reader comes again, by a link
    assert state.follow_link("step") and not state.follow_link("step")


def test_going_back_brings_back_what_the_link_said(visit, link):
    state.set_url("text", "hello")
    state.follow_link("text")
    visit.is_history_navigation = True
    assert state.follow_link("text")
    del link["text"]
    assert state.follow_link("text")
    state.set_url("text", "x" * 10_000)  # too long for a link, and never lost
    assert not state.follow_link("text")


def test_what_one_run_writes_into_the_link_reaches_the_browser_once(monkeypatch):
    sent = []
    monkeypatch.setattr(QueryParams, "_send_query_param_msg", lambda self: sent.append(self.to_dict()))

    def page():
        import streamlit

        from ui.state import one_history_entry, set_url

        with one_history_entry():
            set_url("sentence", "hello")
            set_url("layer", None)
            set_url("head", 3, default=1)
            assert streamlit.query_params.to_dict() == {"sentence": "hello", "head": "3"}
        set_url("row", 2)

    app = script(page)
    app.query_params["layer"] = "4"
    app.run()
    assert not app.exception
    assert sent == [{"sentence": "hello", "head": "3"}, {"sentence": "hello", "head": "3", "row": "2"}]


def test_no_two_pages_keep_different_things_under_one_key():
    """Keys that begin with _ outlive a change of page: one page's sentence was taken for the choices of another."""
    root = Path(state.__file__).resolve().parents[1]
    files = [path for folder in ("ui", "sections", "pages") for path in (root / folder).rglob("*.py")]
    keys = Counter(
        key
        for path in files
        for key in re.findall(r'^_?[A-Z_]+ = "(_[a-z._-]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert len(keys) > 20 and [key for key, times in keys.items() if times > 1] == []
