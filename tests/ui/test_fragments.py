"""Fragments of ours do not nest, and why they must not."""

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage

from tests.ui.driver import opened
from ui.fragments import fragment


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


def message(place: list[int], fragment: str) -> ForwardMsg:
    made = ForwardMsg()
    made.delta.add_block.vertical.border = False
    made.delta.fragment_id = fragment
    made.metadata.delta_path[:] = place
    return made


def test_a_nested_fragments_messages_would_outlive_their_place():
    queue = ForwardMsgQueue()
    for one in (message([0, 5], "outer"), message([0, 5, 0], "inner")):
        queue.enqueue(one)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["outer"])
    left = [list(one.metadata.delta_path) for one in queue.flush()]
    assert left == [[0, 5, 0]], "Streamlit has mended it: fragments may nest"
