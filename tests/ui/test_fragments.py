"""Fragments of ours do not nest, and why they must not."""

import asyncio

import pytest
import streamlit as st
from streamlit import config
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_cache import create_reference_msg, populate_hash_if_needed
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from tests.ui.driver import opened
from ui.fragments import click_once, fragment, keep_endings


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
    """What `keep_endings` and `click_once` replace is Streamlit's own again after the test."""
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    for name in ("_create_scriptrunner", "_handle_scriptrunner_event_on_event_loop", "request_rerun"):
        monkeypatch.setattr(AppSession, name, getattr(AppSession, name))


def test_a_fragment_that_has_run_to_its_end_is_cleared_of_what_it_no_longer_draws(streamlits_own):
    ended, interrupted = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
    assert end_of("words", "offer") == interrupted, "Streamlit has mended it: keep_endings may go"
    keep_endings()
    assert (end_of("words", "offer"), end_of("words", "words")) == (ended, interrupted)
    nested = message([0, 5, 0], "nested")  # dropped, as it runs again: the browser must keep what it has
    assert end_of("outer", "nested", nested) == interrupted


class Runner:
    """A run that has ended, as a session knows it."""

    _execing = False

    def __init__(self):
        self.requests = ScriptRequests()
        self.requests.on_scriptrunner_ready()  # there is nothing more to run: it stops

    def request_rerun(self, rerun: RerunData) -> bool:
        return self.requests.request_rerun(rerun)


class Session(AppSession):
    """Its run has ended, and the server has not heard of it yet."""

    def __init__(self):
        self._scriptrunner, self._state = Runner(), AppSessionState.APP_IS_RUNNING
        self._event_loop, self._browser_queue = asyncio.get_running_loop(), ForwardMsgQueue()
        self._message_enqueued_callback = self._local_sources_watcher = None
        self._run_on_save = False

    def has_fragment(self, fragment_id: str) -> bool:
        return True

    def shutdown(self) -> None:
        """Streamlit calls it when a session is thrown away."""


def begin(session: AppSession, rerun: RerunData) -> None:
    session._scriptrunner = Runner()


def test_a_run_is_heard_to_its_end_though_a_fragment_has_begun(streamlits_own, monkeypatch):
    monkeypatch.setattr(AppSession, "_create_scriptrunner", begin)
    monkeypatch.setattr("ui.fragments._run", begin)

    async def heard() -> list[str]:
        session = Session()
        before = session._scriptrunner
        session.request_rerun(ClientState(fragment_id="offer"))
        assert session._scriptrunner is not before
        for event in (ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS, ScriptRunnerEvent.SHUTDOWN):
            session._handle_scriptrunner_event_on_event_loop(before, event)
        assert session._scriptrunner is not None, "the end of the first run has ended the second"
        return [message.WhichOneof("type") for message in session._browser_queue.flush()]

    assert asyncio.run(heard()) == [], "Streamlit has mended it: keep_endings may go"
    keep_endings()
    assert asyncio.run(heard()) == ["script_finished", "session_status_changed"]


@pytest.mark.parametrize("automatic, carried", [(True, ["words"]), (False, ["button", "words", "chat"])])
def test_a_timers_rerun_carries_no_click(streamlits_own, monkeypatch, automatic, carried):
    begun: list[RerunData] = []
    monkeypatch.setattr(AppSession, "_create_scriptrunner", lambda session, rerun: begun.append(rerun))
    click_once()

    async def told() -> None:
        state = ClientState(fragment_id="offer", is_auto_rerun=automatic)
        state.widget_states.widgets.add(id="button", trigger_value=True)
        state.widget_states.widgets.add(id="words", string_value="typed")
        state.widget_states.widgets.add(id="chat").chat_input_value.data = "said"
        Session().request_rerun(state)

    asyncio.run(told())
    assert [one.id for one in begun[0].widget_states.widgets] == carried
