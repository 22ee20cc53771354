"""Eight bits: the same weights as 8-bit integers; memory, seconds, and the effect on the predictions."""

import streamlit as st

from sections.smaller.subject import STUDENT, TEACHER, Inputs, costs, mean_and_half, recorded
from ui.lesson import Lesson
from ui.model_cache import load_predictor
from ui.predict import predict
from ui.runs import own_models
from ui.source import show_source
from ui.task_data import shipped
from ui.text import literal
from ui.translations import _

TASK, TEXTS = "classification", 122  # number of dev reviews


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.costs import cost

    lesson.show("Eight bits", title=False)
    question = _("Eight bits in place of 32. What becomes of minilm-en’s memory?")
    revealed = predict("bits", question, [_("a quarter"), _("a half"), _("two thirds")], 2)
    if revealed and any(map(str.isalnum, inputs.text)):
        with st.spinner(_("Each model reads your sentence …")):
            results = costs(inputs.text)
        changed = recorded("changed_int8")
        rows, unit = [], _("ms")
        for name, arm in ((STUDENT, "alone"), (TEACHER, "teacher")):
            whole, small = results[name], results[f"{name}_int8"]
            share = f"{mean_and_half(changed[arm])[0]:.1%}" if arm in changed else "–"
            rows.append(
                {
                    _("model"): name,
                    _("numbers"): f"{whole.parameters:,}",
                    _("32 bits"): f"{whole.megabytes:.1f} MB, {whole.milliseconds:.2f} {unit}",
                    _("8 bits"): f"{small.megabytes:.1f} MB, {small.milliseconds:.2f} {unit}",
                    _("faster"): f"{whole.milliseconds / small.milliseconds:.1f} ×",
                    _("answers changed, recorded"): share,
                }
            )
        st.table(rows)
        st.caption(_("Measured on your sentence, on this server. Changed answers: of the 872 sentences of SST-2 dev."))
    own_model()
    lesson.show("What is rounded")
    show_source(cost.int8)


@st.fragment
def own_model() -> None:
    """The user's newest classifier: how many of its predictions change."""
    runs = [run for run in own_models() if (run.latest("started") or {}).get("details", {}).get("task") == TASK]
    if not runs:
        st.info(_("Once a run of yours has ended, its answers are compared here."), icon=":material/play_arrow:")
        return
    run = runs[0]
    st.markdown(_("**Your newest model:** {title}").format(title=literal(run.title)))
    if st.button(_("Compare its answers"), key="compare-int8", icon=":material/timer:"):
        st.session_state["_compared"] = run.id
    if st.session_state.get("_compared") == run.id:
        with st.spinner(_("{n} reviews, twice …").format(n=TEXTS)):
            changed, before, now = compared(run.id, str(run.result))
        words = _("**{n} of {all} answers change**; right are {before:.1%} and, in eight bits, {now:.1%}.")
        st.markdown(words.format(n=len(changed), all=TEXTS, before=before, now=now))
        for text in changed[:5]:
            st.markdown(f"- {literal(text)}")


@st.cache_data(show_spinner=False, max_entries=50)
def compared(run_id: str, directory: str) -> tuple[list[str], float, float]:
    """(texts whose prediction changes, accuracy before, accuracy in 8 bits)."""
    from minibert.inside.costs.cost import answers, in_int8

    known = load_predictor(run_id, directory)
    dev = shipped("reviews").dev.examples[:TEXTS]
    whole, small = answers(known, dev), answers(in_int8(known), dev)
    truth = [example.label for example in dev]

    def right(one) -> float:
        predicted = [one.labels[i] for i in one.scores.argmax(-1).tolist()]
        return sum(a == b for a, b in zip(predicted, truth, strict=True)) / len(truth)

    return [dev[i].text for i in small.changed_from(whole)], right(whole), right(small)
