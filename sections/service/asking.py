"""Requests to the service: some that it answers, and some that it refuses."""

import json

import streamlit as st

from sections.service.subject import Served
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

LONGEST_REQUEST = 100_000  # most characters of a request body


def _requests_of(example: dict) -> dict[str, tuple[str, str]]:
    """Prepared requests: name → (words, body). Only the first two are valid."""
    from minibert.service.server import Limits

    limits = Limits()
    field = next(iter(example))

    def body(*inputs) -> str:
        return json.dumps({"inputs": list(inputs)}, ensure_ascii=False)

    return {
        "good": (_("a good one"), body(example)),
        "two": (_("two inputs"), body(example, example)),
        "json": (_("not JSON"), '{"inputs": ["so close"'),
        "missing": (_("inputs missing"), '{"input": "not a dull minute"}'),
        "type": (_("a number for a text"), body({**example, field: 7})),
        "blank": (_("a blank text"), body(example, {**example, field: "   "})),
        "unknown": (_("an unknown field"), body({**example, "colour": "blue"})),
        "long": (_("a text too long"), body({**example, field: "very " * (limits.characters // 5 + 1)})),
        "many": (_("too many inputs"), json.dumps({"inputs": [example] * (limits.inputs + 1)})),
    }


@st.fragment
def show(lesson: Lesson, served: Served) -> None:
    lesson.show("Ask the service", title=False)
    predictor = served.predictor
    ready = _requests_of(served.example)
    state = f"request-{predictor.task.name}"
    st.session_state.setdefault(state, ready["good"][1])
    picked = st.pills(_("Requests"), list(ready), format_func=lambda key: ready[key][0], key="ready")
    if picked and st.session_state.get("ready-shown") != (served.name, picked):
        st.session_state[state] = ready[picked][1]
        st.session_state["ready-shown"] = (served.name, picked)
    text = st.text_area(_("Body of POST /predict"), key=state, height=120, max_chars=LONGEST_REQUEST)
    answer, health = _responses(predictor, text)
    good = answer.status == 200
    (st.success if good else st.error)(
        _("**HTTP {status}** after {ms:.1f} ms").format(status=answer.status, ms=1000 * answer.seconds),
        icon=":material/check_circle:" if good else ":material/block:",
    )
    st.code(json.dumps(answer.body, ensure_ascii=False, indent=1), "json", wrap_lines=True)
    with st.expander(_("GET /health, meanwhile"), icon=":material/favorite:"):
        st.code(json.dumps(health.body), "json")
    from minibert.service.server import Service, refusal

    show_source(Service.examples, find="refus", label=_("What checks a request: `Service.examples`"))
    show_source(refusal, find="status", label=_("Which number a refusal gets"))
    lesson.show("The schema", level=3)
    _show_schema(served)


def _responses(predictor, text: str):
    """(the response to the request, and the one to GET /health)."""
    from minibert.service.local_client import LocalRequest, ask
    from minibert.service.server import application

    body = text.encode("utf-8", "surrogatepass")
    return ask(application(predictor), LocalRequest(body=body), LocalRequest("GET", "/health"), warm_up=1)


def _show_schema(served: Served) -> None:
    from minibert.service.server import Limits, request_schema

    predictor = served.predictor
    st.markdown(_("For this model, `{task}`:").format(task=predictor.task.name))
    st.json(request_schema(predictor, Limits()), expanded=3)
    show_source(predictor.task.input_schema, label=_("Where the schema comes from"))
