"""What .streamlit/config.toml sets, and why it must."""

from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import create_reference_msg, populate_hash_if_needed
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue


def message(place: list[int], size: int) -> ForwardMsg:
    made = ForwardMsg()
    made.delta.new_element.markdown.body = "x" * size
    made.delta.fragment_id = "live"
    made.metadata.delta_path[:] = place
    populate_hash_if_needed(made)
    return made


def left_for(first: ForwardMsg, second: ForwardMsg) -> list[list[int]]:
    """The places of what is still sent of a fragment's messages when the fragment runs again before they were."""
    queue = ForwardMsgQueue()
    for one in (first, second):
        queue.enqueue(create_reference_msg(one) if one.metadata.cacheable else one)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["live"])
    return [list(one.metadata.delta_path) for one in queue.flush()]


def test_no_message_of_a_fragment_outlives_its_neighbours():
    small, large = message([0, 5, 0], 10), message([0, 5, 1], 1_000_000)
    assert not large.metadata.cacheable and left_for(small, large) == []
    config.set_option("global.minCachedMessageSize", 10_000)  # Streamlit's own: the second outlives the first
    try:
        small, large = message([0, 5, 0], 10), message([0, 5, 1], 1_000_000)
        assert left_for(small, large) == [[0, 5, 1]], "Streamlit has mended it: the setting may go"
    finally:
        config.set_option("global.minCachedMessageSize", 1e9)
