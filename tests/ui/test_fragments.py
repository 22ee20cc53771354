"""Fragments of ours do not nest, and why they must not."""

import streamlit as st
from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import create_reference_msg, populate_hash_if_needed
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage

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


def test_a_fragment_that_has_run_to_its_end_is_cleared_of_what_it_no_longer_draws(monkeypatch):
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)  # Streamlit's own again after the test
    ended, interrupted = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
    assert end_of("words", "offer") == interrupted, "Streamlit has mended it: keep_endings may go"
    keep_endings()
    assert (end_of("words", "offer"), end_of("words", "words")) == (ended, interrupted)
    nested = message([0, 5, 0], "nested")  # dropped, as it runs again: the browser must keep what it has
    assert end_of("outer", "nested", nested) == interrupted
