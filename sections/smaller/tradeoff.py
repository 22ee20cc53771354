"""The central picture: milliseconds for the reader's sentence, accuracy, memory; a bubble a model."""

import streamlit as st

from sections.smaller.subject import PREFIX, STUDENT, TEACHER, Subject, costs, mean_and_half, recorded
from ui.figures import figure
from ui.page import picture
from ui.runs import manager
from ui.text import visible
from ui.translations import _, ngettext

DRAWN = {
    "teacher": TEACHER,
    "alone": STUDENT,
    "no-attention": STUDENT,
}  # arms that are drawn, and what network they have
MOST = 12  # runs of the class


@st.fragment
def show(seen: Subject) -> None:
    from plots.smaller import beaten, tradeoff

    with picture():
        if not any(map(str.isalnum, seen.text)):
            st.info(_("Type a sentence."), icon=":material/edit:")
            return
        with st.spinner(_("Each model reads your sentence …")):
            cost = costs(seen.text)
        points = of_the_class(cost) if seen.drawn == "own" else of_the_record(cost)
        if not points:
            st.info(
                _("No run of this class has ended yet: *Teacher and student* below begins some.")
                if seen.drawn == "own" else
                _("Nothing is recorded yet: `python -m minibert experiment smaller --seeds 3`."),
                icon=":material/play_arrow:",
            )  # fmt: skip
            return
        slow, fast = cost[TEACHER].milliseconds, cost[STUDENT].milliseconds
        summary = _("“{text}”: the teacher needs {slow:.1f} ms, the student {fast:.1f} ms").format(
            text=short(seen.text), slow=slow, fast=fast)  # fmt: skip
        told = "; ".join(
            _("{name}: {ms:.2f} ms, {score:.1%}, {mb:.1f} MB").format(
                name=p.name, ms=p.milliseconds, score=p.score, mb=p.megabytes)
            for p in points
        )  # fmt: skip
        figure(
            tradeoff(points, summary, (_("milliseconds for this sentence"), _("accuracy, %")), _("none is beaten")),
            _("Models by speed, accuracy and memory. {told}. Not beaten: {best}.").format(
                told=told, best=", ".join(p.name for p in points if not beaten(p, points))),
            "tradeoff",
            wide=True,
            data=[{_("model"): p.name, _("ms"): round(p.milliseconds, 2), _("accuracy"): round(p.score, 4),
                   _("MB"): round(p.megabytes, 1), _("not beaten"): not beaten(p, points)} for p in points],
        )  # fmt: skip
    seeds = min((len(values) for arm, values in recorded("accuracy").items() if arm in DRAWN), default=0)
    st.caption(
        _("Seconds of one processor thread of this server, measured on your sentence. Bubbles: memory of the weights; "
          "rings: the same model in eight bits; taught by soft labels and hidden vectors. {accuracy}").format(
            accuracy=_("Accuracy: on the 122 dev reviews of the course, by runs of this class.") if seen.drawn == "own"
            else ngettext("Accuracy: SST-2 dev, 872 sentences, {n} seed.", "Accuracy: SST-2 dev, 872 sentences, {n} "
                          "seeds, ± their deviation.", seeds).format(n=seeds))
    )  # fmt: skip


def short(text: str, most: int = 40) -> str:
    text = visible(text, spaces=False)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def names() -> dict[str, str]:
    return {"teacher": _("teacher"), "alone": _("student alone"), "no-attention": _("taught student")}


def of_the_record(cost: dict) -> list:
    from plots.smaller import Point

    points = []
    for ending in ("", "_int8"):
        scores = recorded(f"accuracy{ending}")
        for arm, network in DRAWN.items():
            if arm in scores:
                mean, half = mean_and_half(scores[arm])
                one = cost[network + ending]
                name = names()[arm] + (_(", 8 bits") if ending else "")
                kind = arm if arm in ("teacher", "alone") else "taught"
                points.append(Point(name, one.milliseconds, mean, one.megabytes, kind, bool(ending), half,
                                    under=arm == "alone"))  # fmt: skip
    return points


def of_the_class(cost: dict) -> list:
    """Every ended run of everyone's, and the teachers that stood behind them."""
    from plots.smaller import Point

    points, teachers = [], set()
    runs = [run for run in manager().runs() if f"{run.kind}/".startswith(f"{PREFIX}/") and run.state == "finished"]
    for number, run in enumerate(runs[:MOST]):
        done, taught = run.latest("done"), run.latest("taught")
        if done and "accuracy" in done["metrics"]:
            kind, one = "taught" if taught else "alone", cost[STUDENT]
            title = _("taught {n}") if taught else _("alone {n}")
            points.append(Point(title.format(n=len(runs) - number), one.milliseconds, done["metrics"]["accuracy"],
                                one.megabytes, kind))  # fmt: skip
        if taught and taught["metrics"]["accuracy"] not in teachers:
            teachers.add(taught["metrics"]["accuracy"])
            points.append(Point(_("teacher"), cost[TEACHER].milliseconds, taught["metrics"]["accuracy"],
                                cost[TEACHER].megabytes, "teacher"))  # fmt: skip
    return points
