"""The picture of the page: which task is trained when, in each of three ways."""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from ui.figures import figure
from ui.page import picture
from ui.translations import _


@dataclass(frozen=True)
class Inputs:
    """steps: of a run, all tasks together."""

    steps: int


def tasks() -> dict[str, str]:
    return {
        "words": _("phrases and names, hidden"),
        "order": _("order of three sentences"),
        "distance": _("distance of two sentences"),
        "relation": _("what joins two clauses"),
    }


def regimes() -> dict[str, str]:
    return {"continual": _("each new one with the old"), "one_by_one": _("one by one"), "together": _("all at once")}


def read() -> Inputs:
    return Inputs(int(st.slider(_("Steps"), 200, 1_200, 400, 200, key="ernie2-steps", width=200)))


def show(inputs: Inputs) -> None:
    with picture():
        trained_when(inputs.steps)


def trained_when(steps: int) -> None:
    """The training schedule, one row per regime."""
    from minibert.relatives.parts.continual_tasks import stages
    from plots.what_to_hide import trained_when

    plans = {title: stages(name, list(tasks()), steps) for name, title in regimes().items()}
    listed = [
        {_("way"): title, _("stage"): number, _("task"): tasks()[task], _("steps"): count}
        for title, plan in plans.items()
        for number, stage in enumerate(plan, 1)
        for task, count in stage.items()
    ]
    alt = _(
        "Which task is trained when: all at once in one stage; one by one, a stage each; or each new one in a stage "
        "of its own, where the old ones go on with fewer steps. Every task has {n:,} steps in each way."
    ).format(n=steps // len(tasks()))
    title = _("Each task has {n:,} steps, in all three ways").format(n=steps // len(tasks()))
    figure(partial(trained_when, plans, tasks(), _("step"), title), alt, "ernie2-plan", data=listed)
