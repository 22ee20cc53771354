"""Fragments of ours do not nest, and why they must not."""

import asyncio
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit import config
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_cache import create_reference_msg, populate_hash_if_needed
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

from tests.ui.driver import opened
from ui.fragments import fragment, keep_endings


@fragment
def inner():
    st.button("pressed")


@fragment
def outer():
    inner()


def test_a_part_within_a_part_is_part_of_it(monkeypatch):
    seen = []  # what each fragment stands in
    register = MemoryFragmentStorage.register

    def noted(self, key, function, *, parent_fragment_id=None, **options):
        seen.append(parent_fragment_id)
        return register(self, key, function, parent_fragment_id=parent_fragment_id, **options)

    monkeypatch.setattr(MemoryFragmentStorage, "register", noted)
    opened(outer)
    assert seen == [None]
    opened(inner)
    assert seen == [None, None]


def message(place: list[int], fragment: str, size: int = 0) -> ForwardMsg:
    """Of a fragment: a text of this size; of none, a container."""
    made = ForwardMsg()
    if size:
        made.delta.new_element.markdown.body = "x" * size
    else:
        made.delta.add_block.vertical.border = False
    made.delta.fragment_id = fragment
    made.metadata.delta_path[:] = place
    populate_hash_if_needed(made)
    return made


def left_of(messages: list[ForwardMsg], fragment: str) -> list[list[int]]:
    """The places of what is still sent when the fragment runs again before they were."""
    queue = ForwardMsgQueue()
    for one in messages:
        queue.enqueue(create_reference_msg(one) if one.metadata.cacheable else one)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[fragment])
    return [list(one.metadata.delta_path) for one in queue.flush()]


def test_a_nested_fragments_messages_would_outlive_their_place():
    left = left_of([message([0, 5], "outer"), message([0, 5, 0], "inner")], "outer")
    assert left == [[0, 5, 0]], "Streamlit has mended it: fragments may nest"


def test_no_message_of_a_fragment_outlives_its_neighbours():
    """What .streamlit/config.toml sets, and why it must."""
    small, large = message([0, 5, 0], "live", 10), message([0, 5, 1], "live", 1_000_000)
    assert not large.metadata.cacheable and left_of([small, large], "live") == []
    config.set_option("global.minCachedMessageSize", 10_000)  # Streamlit's own: the second outlives the first
    try:
        small, large = message([0, 5, 0], "live", 10), message([0, 5, 1], "live", 1_000_000)
        assert left_of([small, large], "live") == [[0, 5, 1]], "Streamlit has mended it: the setting may go"
    finally:
        config.set_option("global.minCachedMessageSize", 1e9)


def end_of(ended: str, runs: str, *drawn: ForwardMsg) -> int:
    """What the browser hears of a fragment's run that has ended, when another begins before this was sent."""
    made, queue = ForwardMsg(script_finished=ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY), ForwardMsgQueue()
    made.metadata.run.fragment_ids.append(ended)
    for one in (*drawn, made):
        queue.enqueue(one)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[runs])
    return queue.flush()[-1].script_finished


@pytest.fixture
def streamlits_own(monkeypatch):
    """What `keep_endings` replaces is Streamlit's own again after the test."""
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    monkeypatch.setattr(AppSession, "_create_scriptrunner", AppSession._create_scriptrunner)


def test_a_fragment_that_has_run_to_its_end_is_cleared_of_what_it_no_longer_draws(streamlits_own):
    ended, interrupted = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
    assert end_of("words", "offer") == interrupted, "Streamlit has mended it: keep_endings may go"
    keep_endings()
    assert (end_of("words", "offer"), end_of("words", "words")) == (ended, interrupted)
    nested = message([0, 5, 0], "nested")  # dropped, as it runs again: the browser must keep what it has
    assert end_of("outer", "nested", nested) == interrupted


class Session(AppSession):
    """Its last run has ended, and not all that it said has been heard. begun: how often another run was begun."""

    def __init__(self):
        requests = ScriptRequests()
        requests.on_scriptrunner_ready()  # there is nothing more to run: it stops
        self._scriptrunner = SimpleNamespace(request_rerun=requests.request_rerun)
        self._state, self._event_loop = AppSessionState.APP_NOT_RUNNING, asyncio.get_running_loop()

    def has_fragment(self, fragment_id: str) -> bool:
        return True

    def shutdown(self) -> None:
        """Streamlit calls it when a session is thrown away."""


def test_a_fragment_waits_until_the_run_before_it_was_heard_to_its_end(streamlits_own, monkeypatch):
    begun = []
    monkeypatch.setattr(AppSession, "_create_scriptrunner", lambda session, rerun: begun.append(rerun.fragment_id))
    monkeypatch.setattr("ui.fragments._run", AppSession._create_scriptrunner)
    monkeypatch.setattr("ui.fragments._MOMENT", 0)

    async def runs() -> list[int]:
        session, counts = Session(), []
        begun.clear()
        session.request_rerun(ClientState(fragment_id="offer"))
        for heard in (False, True):
            for _turn in range(3):
                await asyncio.sleep(0)
            counts.append(len(begun))
            if not heard:
                session._scriptrunner = None
        return counts

    assert asyncio.run(runs()) == [1, 1], "Streamlit has mended it: keep_endings may go"
    keep_endings()
    assert asyncio.run(runs()) == [0, 1]
