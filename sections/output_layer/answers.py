"""The runs' predictions on the user's own text, during and after training."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from minibert.tasks import TASKS
from ui.answers import headline, show_answer
from ui.figures import figure
from ui.finetune_runs import FinetuneRun, last_answers, names_of
from ui.tasks import VIEWS
from ui.translations import _


def show(shown: Sequence[FinetuneRun], given: Any | None) -> None:
    """How the prediction changes during training, and the last one drawn in the text."""
    task = shown[0].task
    st.markdown("### " + _("What they answer"))
    if given is None:
        st.markdown(_("Write a text above, and the models answer."))
        return
    said = {one.name: (one, last_answers(one, given)) for one in shown}
    said = {name: (one, answers) for name, (one, answers) in said.items() if answers}
    if not said:
        st.markdown(_("The answer comes with the next step."))
        return
    _figure(task, said, names_of(shown))
    names = list(said)
    if len(names) > 1:
        picked = st.segmented_control(_("Answer of"), names, default=names[0], required=True, key="answer-of")
    else:
        picked = names[0]
    answer = said[picked if picked in said else names[0]][1][-1][1]
    show_answer(TASKS[task], given, answer, key="own-answer")


def _figure(task: str, said: dict, names: dict[str, str]) -> None:
    from plots.finetuning import PredictionCurve, answers_now, answers_over_time

    drawn = []
    for name, (one, answers) in said.items():
        points = [(epoch, *headline(TASKS[task], answer)) for epoch, answer in answers if "error" not in answer]
        drawn.append(PredictionCurve(name, one.start, [point for point in points if point[2] is not None]))
    drawn = [one for one in drawn if one.points]
    if not drawn:
        return
    title, top = VIEWS[task].number_title()
    rows = [
        {_("run"): one.name, _("epoch"): epoch, _("answer"): words, title: value}
        for one in drawn
        for epoch, words, value in one.points
    ]
    last = [one.points[-1] for one in drawn]
    now = _("; ").join(f"{words} ({value:.0%})" if top == 1.0 else words for _epoch, words, value in last)
    finding = _finding([words for _epoch, words, _value in last]) if top == 1.0 else ""
    if all(len(one.points) == 1 for one in drawn):  # the text came after training: no curve to draw
        alt = _("The answer of each run and how sure it is: {now}.").format(now=now)
        figure(answers_now(drawn, title, top, finding), alt, key="answers", data=rows)
        return
    alt = _("The answer of each run over epochs and how sure it is. Now: {now}.").format(now=now)
    fig = answers_over_time(drawn, title, _("epoch"), names, _("not the answer it ends with"), top, finding)
    figure(fig, alt, key="answers", data=rows)


def _finding(words: Sequence[str]) -> str:
    from plots.finetuning import short

    if len(set(words)) == 1:
        return _("All answer “{words}”").format(words=short(words[0])) if len(words) > 1 else ""
    return _("They disagree: {n} different answers of {all} runs").format(n=len(set(words)), all=len(words))
