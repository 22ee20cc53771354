"""The central picture: milliseconds for the user's sentence, accuracy, memory; one bubble per model."""

from functools import partial

import streamlit as st

from sections.smaller.subject import (
    PREFIX,
    STUDENT,
    TEACHER,
    Inputs,
    costs,
    costs_of_runs,
    mean_and_half,
    recorded,
)
from ui.figures import figure
from ui.page import picture
from ui.runs import manager
from ui.text import visible
from ui.translations import _, ngettext

DRAWN = {"teacher": TEACHER, "alone": STUDENT, "many": STUDENT}  # arm → its network
MOST, CLASS_CUTS = 12, 4  # most runs of the class; most pruned ones, which must be loaded


@st.fragment
def show(inputs: Inputs) -> None:
    from plots.smaller import beaten, tradeoff

    with picture():
        if not any(map(str.isalnum, inputs.text)):
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        with st.spinner(_("Each model reads your sentence …")):
            cost = costs(inputs.text)
        if inputs.drawn == "own":
            points = [*of_the_class(cost), *pruned_by_the_class(inputs.text)]
        else:
            points = of_the_record(cost)
        if not points:
            st.info(
                _("No run of this class has ended yet: *Teacher and student* below begins some.")
                if inputs.drawn == "own"
                else _("Nothing is recorded yet: `python -m minibert experiment smaller --seeds 3`."),
                icon=":material/play_arrow:",
            )
            return
        slow, fast = cost[TEACHER].milliseconds, cost[STUDENT].milliseconds
        summary = _("“{text}”: the teacher needs {slow:.1f} ms, the student {fast:.1f} ms").format(
            text=short(inputs.text), slow=slow, fast=fast
        )
        listed = _("; ").join(
            _("{name}: {ms:.2f} ms, {score:.1%}, {mb:.1f} MB").format(
                name=p.name, ms=p.milliseconds, score=p.score, mb=p.megabytes
            )
            for p in points
        )
        figure(
            partial(
                tradeoff,
                points,
                summary,
                (_("milliseconds for this sentence"), _("accuracy, %")),
                _("nothing faster is as good"),
            ),
            _("Models by speed, accuracy and memory. {told}. Not beaten: {best}.").format(
                told=listed, best=_(", ").join(p.name for p in points if not beaten(p, points))
            ),
            "tradeoff",
            data=[
                {
                    _("model"): p.name,
                    _("ms"): round(p.milliseconds, 2),
                    _("accuracy"): round(p.score, 4),
                    _("MB"): round(p.megabytes, 1),
                    _("not beaten"): not beaten(p, points),
                }
                for p in points
            ],
        )
    known = _("Time of one processor thread of this server, measured on your sentence. Bubbles: memory of the weights")
    if inputs.drawn == "own":
        more = _("Accuracy: on the 122 dev reviews of the course, by runs of this class.")
    else:
        seeds = min((len(values) for arm, values in recorded("accuracy").items() if arm in DRAWN), default=0)
        more = ngettext(
            "Accuracy: SST-2 dev, 872 sentences, {n} seed.",
            "Accuracy: SST-2 dev, 872 sentences, {n} seeds, ± their deviation.",
            seeds,
        ).format(n=seeds)
        known += _("; rings: the same model in eight bits; taught: by soft labels of 60,000 more sentences")
    st.caption(known + _(". ") + more)


def short(text: str, most: int = 40) -> str:
    text = visible(text, spaces=False)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def names() -> dict[str, str]:
    return {"teacher": _("teacher"), "alone": _("student alone"), "many": _("taught student")}


def names_of_runs() -> dict[str, str]:
    """Kind of the pruning and search runs, and of their uncut baseline → display name."""
    return {"smaller-cut": _("cut {n}"), "smaller-cut/whole": _("uncut {n}"), "smaller-search": _("found {n}")}


def point(name: str, cost, score: float, kind: str, **look):
    from plots.smaller import Point

    return Point(name, cost.milliseconds, score, cost.megabytes, kind, **look)


def of_the_record(cost: dict) -> list:
    points = []
    for ending in ("", "_int8"):
        scores, small = recorded(f"accuracy{ending}"), bool(ending)
        for arm, network in DRAWN.items():
            if arm in scores:
                mean, half = mean_and_half(scores[arm])
                name = names()[arm] + (_(", 8 bits") if small else "")
                kind = arm if arm in ("teacher", "alone") else "taught"
                look = {"open": small, "spread": half, "under": arm == "alone", "called": _("8 bits") if small else ""}
                points.append(point(name, cost[network + ending], mean, kind, **look))
    return points


def of_the_class(cost: dict) -> list:
    """Every finished run of the class, and the teachers used in them."""
    points, teachers = [], set()
    runs = [run for run in manager().runs() if f"{run.kind}/".startswith(f"{PREFIX}/") and run.state == "finished"]
    for number, run in enumerate(runs[:MOST]):
        done, taught = run.latest("done"), run.latest("taught")
        if done and "accuracy" in done["metrics"]:
            title, kind = (_("taught {n}"), "taught") if taught else (_("alone {n}"), "alone")
            points.append(point(title.format(n=len(runs) - number), cost[STUDENT], done["metrics"]["accuracy"], kind))
        if taught and (score := taught["metrics"]["accuracy"]) not in teachers:
            teachers.add(score)
            points.append(point(_("teacher"), cost[TEACHER], score, "teacher"))
    return points


def pruned_by_the_class(text: str) -> list:
    """Every finished pruning run, timed on the user's sentence."""
    names = names_of_runs()
    runs = [run for run in manager().runs() if run.kind in names and run.state == "finished"][:CLASS_CUTS]
    costs = costs_of_runs(tuple((run.id, str(run.result)) for run in runs), text)
    points = []
    for number, run in enumerate(runs):
        done = run.latest("done")
        if done and run.id in costs:
            title, kind = names[run.kind], "alone" if run.kind.endswith("/whole") else "pruned"
            score = done["metrics"]["accuracy"]
            points.append(point(title.format(n=len(runs) - number), costs[run.id], score, kind, under=True))
    return points
