"""The picture: a sentence goes in, a response comes out, and the time that each part of the service takes."""

import json
from pathlib import Path

import streamlit as st

from sections.service.subject import UNTRAINED, Served, our_data, predictor_of
from ui.errors import translated
from ui.figures import figure
from ui.lesson import Lesson
from ui.page import picture
from ui.source import show_source
from ui.text import literal
from ui.translations import _

HEIGHT = 400
_AGAIN = "_service-again"  # session_state key: number of repeated requests


def show(lesson: Lesson, served: Served) -> None:
    with picture():
        results = _timed(served.name, served.directory, served.text, our_data().start, st.session_state.get(_AGAIN, 0))
        left, right = st.columns([5, 6], gap="medium")
        with left:
            _in_and_out(served, results.response)
        with right:
            _where_the_time_goes(results)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(_("Ask again"), key="again", icon=":material/replay:", on_click=_once_more)
        st.caption(
            _(
                "In this process, without a network: the quickest of nine requests, after three that are not counted. "
                "The first ones through a new thread pay for its start; other work on the machine only adds."
            )
        )
    lesson.show("Where the time goes", title=False)
    from minibert.service.local_client import timed

    show_source(timed, find="warm_up", label=_("How one request is measured"))


def _once_more() -> None:
    st.session_state[_AGAIN] = st.session_state.get(_AGAIN, 0) + 1


def body_for(predictor, text: str) -> str:
    """A request body: the task's example with the sentence as its first text."""
    example = predictor.task.example_input
    field = "text" if "text" in example else next(name for name, value in example.items() if isinstance(value, str))
    return json.dumps({"inputs": [{**example, field: text}]}, ensure_ascii=False)


@st.cache_data(show_spinner=False, max_entries=200)
def _timed(name: str, directory: Path | None, text: str, start: str, again: int):
    """Timed once for all sessions that send this sentence; start: what an untrained model begins with · again: number
    of repetitions, part of the cache key."""
    from minibert.service.local_client import timed

    with st.spinner(_("Asking …")):
        predictor = predictor_of(name, directory)
        return timed(predictor, body_for(predictor, text).encode("utf-8", "surrogatepass"))


def _in_and_out(served: Served, response) -> None:
    # As plain text: the contrast of coloured JSON is too low for the back row.
    st.markdown(_("**In:** `POST /predict`"))
    st.code(body_for(served.predictor, served.text)[:600], None, wrap_lines=True)
    st.markdown(
        _("**Out:** HTTP {status}, after {ms:.1f} ms").format(status=response.status, ms=1000 * response.seconds)
    )
    if response.status != 200:
        st.markdown(f":material/block: {literal(translated(response.body['error']))}")
        return
    answer = response.body["answers"][0]
    shown = {key: value for key, value in answer.items() if key not in ("text", "pair")}
    st.code(json.dumps(shown, ensure_ascii=False, indent=1)[:600], None, wrap_lines=True)
    if served.name == UNTRAINED:
        st.markdown(_(":material/casino: By chance: the new layer of this model is untrained."))
    else:
        st.caption(_("Answers: {model}").format(model=literal(served.title)))


def stage_names() -> dict[str, str]:
    return {
        "check": _("checking"),
        "wait": _("waiting"),
        "tokens": _("tokenizing"),
        "model": _("the model"),
        "answer": _("writing"),
    }


def _where_the_time_goes(results) -> None:
    from plots.service import request_stages

    names, total = stage_names(), 1000 * results.response.seconds
    stages = {names[key]: (1000 * at, 1000 * took) for key, (at, took) in results.stages.items()}
    longest, (_at, most) = max(stages.items(), key=lambda stage: stage[1][1])
    if results.response.status == 200:
        finding = _("{total:.1f} ms; longest: {stage}, {ms:.1f} ms").format(total=total, ms=most, stage=longest)
    else:
        finding = _("{total:.1f} ms: the model was not run").format(total=total)
    unit = _("ms")
    listed = _(", ").join(f"{name} {took:.2f} {unit}" for name, (_at, took) in stages.items())
    rows = [{_("part"): name, unit: round(took, 3)} for name, (_at, took) in stages.items()]
    fig = request_stages(stages, finding, _("ms since sending"), HEIGHT, unit)
    figure(fig, _("{title}. {told}.").format(title=finding, told=listed), "request", data=rows)
