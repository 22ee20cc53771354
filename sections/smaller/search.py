"""Search: train one network as all its subnetworks, evaluate each, and train on the best within the budget."""

import streamlit as st

from sections.smaller import learn
from sections.smaller.subject import STUDENT, Inputs
from ui.claim import records_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.live_runs import follow_runs
from ui.model_cache import load, version_of
from ui.runs import manager, own_runs, settled, show_refusal, submit
from ui.source import show_source
from ui.task_data import shipped
from ui.translations import _, ngettext

KIND, DATA = "smaller-search", "reviews"
STEP = 0.05  # of the slider, in milliseconds


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.pruning import search

    manager().warm_up()
    lesson.show("Search", title=False)
    whole = whole_milliseconds(version_of(STUDENT))
    least, most = (max(STEP, round(whole * share / STEP) * STEP) for share in (0.2, 1.2))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        budget = st.slider(
            _("Budget: milliseconds a review"),
            least,
            most,
            round(whole * 0.5 / STEP) * STEP,
            STEP,
            format="%.2f",
            key="budget",
            width=320,
        )
        if st.button(_("Search"), type="primary", icon=":material/travel_explore:", key="begin-search"):
            begin(budget, inputs)
    st.caption(_("All of mini-en needs {ms:.2f} ms here.").format(ms=whole))
    show_refusal()
    runs = [run for run in own_runs(KIND)[:1] if not settled(run) or run.error or run.latest("candidate")]
    if runs:
        message = inputs.watched
        follow_runs(runs, lambda shown: of_run(shown, budget), "", speed=learn.step_and_loss, message=message)
    else:
        of_record(budget, whole)
    lesson.show("One network, many parts")
    show_source(search.SuperNetwork)
    lesson.show("Tagger and budget")


@st.cache_data(show_spinner=False, max_entries=4)
def whole_milliseconds(version: int) -> float:
    """The time for a dev review with all of mini-en."""
    from minibert.inside.costs.cost import measure
    from minibert.pruning.run import TIMED_TEXTS

    one = load(STUDENT)
    texts = [example.text for example in shipped(DATA).dev.examples[:TIMED_TEXTS]]
    return measure({"": (one.model.bert, one.tokenizer)}, texts)[""].milliseconds


def begin(budget: float, inputs: Inputs) -> None:
    submit(
        "minibert.pruning.search:search",
        *learn.weights_and_data(STUDENT),
        learn.settings(0, 6, 3e-4),
        learn.settings(0, 2, 1e-4),
        budget=budget,
        probe_inputs=inputs.watched,
        title=_("search, {ms:.2f} ms").format(ms=budget),
        kind=KIND,
    )


def of_run(runs: list, budget: float) -> None:
    """The subnetworks evaluated so far, and the accuracy of the chosen one after more training."""
    run = runs[0]
    events = [event for event in run.events() if event["event"] in ("candidate", "found", "done", "eval")]
    candidates = [event for event in events if event["event"] == "candidate"]
    results, done = run.latest("found"), run.latest("done")
    if not candidates:
        accuracy = [event["metrics"]["accuracy"] for event in events if event["event"] == "eval"]
        phrase = _("The network learns to be each of its parts.")
        now = _(" All of it is right on {score:.0%} of the dev reviews.").format(score=accuracy[-1]) if accuracy else ""
        st.caption(phrase + now)
        return
    after = done["metrics"]["accuracy"] if done and results else None
    scatter(
        [(one["name"], one["milliseconds"], one["accuracy"]) for one in candidates],
        budget,
        (results["name"], after) if results else None,
        results,
    )
    if rows := learn.answers_of(run):
        st.markdown(_("**Your sentence, now:**"))
        st.table(rows)


def of_record(budget: float, whole: float) -> None:
    """A recorded search (seed 0), shown until the user has started one. whole: milliseconds of all of the network here,
    by which those of the other machine are scaled."""
    records = [record for record in records_of("search") if record.get("candidates")]
    if not records:
        st.info(
            _("Nothing is recorded yet: `python -m minibert experiment search --seeds 3`."),
            icon=":material/play_arrow:",
        )
        return
    candidates = records[0]["candidates"]
    scale = whole / max(ms for _name, ms, _score, _count in candidates)
    scatter([(name, ms * scale, score) for name, ms, score, _count in candidates], budget, None, None)
    st.caption(
        _(
            "Recorded on SST-2 (seed 0); the times are scaled so that all of mini-en needs what it needs here. "
            "*Search* makes one of your own, on reviews."
        )
    )


def shape(name: str) -> str:
    """A subnetwork's name in words: layers, and heads and neurons per layer."""
    layers, heads, neurons = map(int, name.split("-"))
    parts = (
        ngettext("{n} layer", "{n} layers", layers).format(n=layers),
        ngettext("{n} head", "{n} heads", heads).format(n=heads),
        ngettext("{n} neuron", "{n} neurons", neurons).format(n=neurons),
    )
    return _(", ").join(parts)


def scatter(results: list, budget: float, trained: tuple[str, float | None] | None, event: dict | None) -> None:
    from plots.pruning import parts

    fast = [one for one in results if one[1] <= budget]
    best = max(fast, key=lambda one: one[2]) if fast else None
    after = trained[1] if trained and best and trained[0] == best[0] else None
    if best is None:
        summary = _("No part needs only {ms:.2f} ms").format(ms=budget)
    else:
        summary = _("{shape}: {ms:.2f} ms, {score:.1%}").format(shape=shape(best[0]), ms=best[1], score=best[2])
    words = {
        "x": _("milliseconds a text"),
        "y": _("accuracy, inherited weights, %"),
        "front": _("best for its time"),
        "budget": _("budget"),
        "best": _("chosen"),
        "after": _("trained further"),
    }
    figure(
        parts(results, budget, best[0] if best else "", after, summary, words),
        _("{n} parts of one network by milliseconds and accuracy. Within {budget:.2f} ms the best is {best}.").format(
            n=len(results), budget=budget, best=summary
        ),
        "parts",
        data=[
            {_("layers-heads-neurons"): name, _("ms"): round(ms, 3), _("accuracy"): round(score, 4)}
            for name, ms, score in results
        ],
    )
    if event is not None and trained and trained[1] is not None:
        phrase = _(
            "**{name}**, found within {ms:.2f} ms: {before:.1%} with inherited weights, **{after:.1%}** after further "
            "training."
        )
        before = event["candidate"]["accuracy"]
        st.markdown(phrase.format(name=shape(trained[0]), ms=event["budget"], after=trained[1], before=before))
