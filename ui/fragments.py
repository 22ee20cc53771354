"""`st.fragment` without nesting, and with an end.

When a fragment reruns before the messages of its previous run were sent, Streamlit 1.67 drops those, but not the
messages of a fragment nested in it. These then refer to elements the browser does not have ("Bad delta path index"),
and the page goes blank. On a slow machine `ui.figures.in_words` in the live view of a training run causes this.

When another fragment runs before the end of the previous run was sent, Streamlit 1.67 reports that run as interrupted,
though it sends what it drew. The browser then keeps what the fragment had drawn before and no longer draws: words of
the last sentence behind those of a new one. `keep_endings` mends this.
"""

from collections.abc import Callable
from functools import wraps

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState


def fragment(part: Callable) -> Callable:
    """`st.fragment`, but called within another fragment, `part` runs as an ordinary function of that fragment."""
    alone = st.fragment(part)

    @wraps(part)
    def run(*arguments, **options):
        within = ThreadState.get().fragment_id is not None
        return (part if within else alone)(*arguments, **options)

    return run


_clear = ForwardMsgQueue.clear
_ENDED = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


def keep_endings() -> None:
    """From now on, the completed run of a fragment is reported as completed, whichever other one runs next."""
    ForwardMsgQueue.clear = _clear_but_endings  # type: ignore[method-assign]


def _clear_but_endings(
    queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
) -> None:
    again, before = set(fragment_ids_this_run or ()), list(queue._queue)
    ended = [one for one in before if one.script_finished == _ENDED and again.isdisjoint(one.metadata.run.fragment_ids)]
    dropped = any(one.HasField("delta") and one.delta.fragment_id in again for one in before)  # of what they drew
    _clear(queue, retain_lifecycle_msgs, fragment_ids_this_run)
    if again and not dropped:
        for one in ended:
            one.script_finished = _ENDED
