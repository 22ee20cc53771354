"""`st.fragment` without nesting, and with an end.

When a fragment reruns before the messages of its previous run were sent, Streamlit 1.67 drops those, but not the
messages of a fragment nested in it. These then refer to elements the browser does not have ("Bad delta path index"),
and the page goes blank. On a slow machine `ui.figures.in_words` in the live view of a training run causes this.

When another fragment runs before the end of the previous run was sent, Streamlit 1.67 reports that run as interrupted,
though it sends what it drew. The browser then keeps what the fragment had drawn before and no longer draws: words of
the last sentence behind those of a new one.

When a fragment is to run after a run has ended, but before the server has heard all that this run said, Streamlit 1.67
never hears the rest (its issue 9921): the end of the page is not drawn, and what stood there before stays. On a busy
server the poll for the teacher's offer does this. `keep_endings` mends these two.

A click is sent when the browser's events before it are done. If a timer's rerun (`run_every`) is sent in between, it
takes the click along, and Streamlit 1.67 carries it out twice: the blank moves by two words, a run is started twice.
`click_once` mends this.
"""

from collections.abc import Callable
from functools import wraps
from weakref import WeakSet

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState


def fragment(part: Callable) -> Callable:
    """`st.fragment`, but called within another fragment, `part` runs as an ordinary function of that fragment."""
    alone = st.fragment(part)

    @wraps(part)
    def run(*arguments, **options):
        within = ThreadState.get().fragment_id is not None
        return (part if within else alone)(*arguments, **options)

    return run


_clear, _run = ForwardMsgQueue.clear, AppSession._create_scriptrunner
_hear = AppSession._handle_scriptrunner_event_on_event_loop
_rerun = AppSession.request_rerun
_unheard: WeakSet[ScriptRunner] = WeakSet()  # those that had ended when another was begun
_ENDED = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
_CLICKS = {name for name in WidgetState.DESCRIPTOR.fields_by_name if "trigger" in name} | {"chat_input_value"}


def keep_endings() -> None:
    """From now on, a completed run is sent whole, and reported as completed, whichever fragment runs next."""
    ForwardMsgQueue.clear = _clear_but_endings  # type: ignore[method-assign]
    AppSession._create_scriptrunner = _run_after_another  # type: ignore[method-assign]
    AppSession._handle_scriptrunner_event_on_event_loop = _hear_out  # type: ignore[method-assign]


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


def _run_after_another(session: AppSession, rerun: RerunData) -> None:
    before = session._scriptrunner  # None as soon as its last word was heard
    _run(session, rerun)
    # Only ever for a fragment: a run of the whole page replaces what there was. And not of a run that was cut off.
    if before is not None and not before._execing:
        _unheard.add(before)


def _hear_out(session: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, *told, **also) -> None:
    now = session._scriptrunner
    if event == ScriptRunnerEvent.SHUTDOWN:
        _unheard.discard(sender)
    if sender in _unheard:  # all that it said comes before what `now` says
        session._scriptrunner = sender
        try:
            _hear(session, sender, event, *told, **also)
        finally:
            session._scriptrunner = now
    else:
        _hear(session, sender, event, *told, **also)


def click_once() -> None:
    """From now on, a timer's rerun carries no click; the message of the click itself always follows it."""
    AppSession.request_rerun = _rerun_without_clicks  # type: ignore[method-assign]


def _rerun_without_clicks(session: AppSession, state: ClientState | None) -> None:
    if state is not None and state.is_auto_rerun:
        kept = [one for one in state.widget_states.widgets if one.WhichOneof("value") not in _CLICKS]
        del state.widget_states.widgets[:]
        state.widget_states.widgets.extend(kept)
    _rerun(session, state)
