"""What a visitor takes for the answer to what it asked."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from servers.visitor import EARLY, IDLE, BrokenOff, HeadlessVisitor, until_idle
from tests.waiting import finished

DONE, DONE_FRAGMENT = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


def message(what, *fragments: str) -> ForwardMsg:
    """The end of a run, or its "start"; of the whole page without `fragments`."""
    message = ForwardMsg()
    if what == "start":
        message.new_session.page_script_hash = "page"
    else:
        message.script_finished = what
    message.metadata.run.fragment_ids.extend(fragments)
    return message


@pytest.mark.parametrize(
    ("messages", "complete"),
    [
        ([("start", "mine"), (DONE_FRAGMENT, "mine")], True),
        ([("start",), (DONE,)], True),
        ([("start", "clock"), (DONE_FRAGMENT, "clock")], False),
        ([("start", "mine"), (EARLY, "mine"), ("start", "mine")], False),
        ([("start", "mine"), (EARLY, "mine"), ("start",)], False),
        ([("start", "mine"), (EARLY, "mine"), ("start",), (DONE,)], True),
        ([("start", "mine"), (EARLY, "mine"), ("start", "clock")], True),
        ([("start", "clock"), (EARLY, "clock"), ("start", "other")], False),
    ],
)
def test_a_run_is_complete_when_it_ended_even_if_a_clock_s_run_hid_that(messages, complete):
    visitor = HeadlessVisitor("", patience=0)

    async def answered(*_args, **_options) -> None:
        for one in messages:
            visitor._take(message(*one))

    visitor._ask = answered
    if complete:
        finished(visitor._run(fragment="mine"))
    else:
        with pytest.raises(BrokenOff):
            finished(visitor._run(fragment="mine"))


@pytest.mark.parametrize(("idle_at", "most", "waited"), [(1, 9, 0), (3, 9, 2), (3, 2, 2), (3, 0, 0)])
def test_whoever_opens_every_page_lets_others_go_first_but_not_for_ever(idle_at, most, waited):
    seen = []

    def busy() -> float:
        seen.append(IDLE - 1 if len(seen) == idle_at else IDLE)
        return seen[-1]

    assert finished(until_idle(most, busy, moment=0)) == waited
