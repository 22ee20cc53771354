"""Published results on removing NSP, and on making it harder."""

from functools import partial

import streamlit as st

from sections.next_sentence.subject import Inputs
from ui.figures import figure
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.next_sentence import trained_and_asked, with_and_without

    titles = {"bert": "BERT (Devlin et al. 2019)", "roberta": "RoBERTa (Liu et al. 2019)"}
    scores: dict[str, dict[str, tuple[float, float]]] = {}
    for row in lesson.table("nsp_or_not.csv"):
        scores.setdefault(titles[row["paper"]], {})[row["task"]] = (float(row["with"]), float(row["without"]))
    bert, roberta = (scores[title] for title in titles.values())
    figure(
        partial(with_and_without, scores, (_("better without it"), _("worse without it"))),
        " ".join(
            _("{paper}, with and without next sentence prediction: {list}.").format(
                paper=paper,
                list=_("; ").join(f"{task} {one:.1f} → {other:.1f}" for task, (one, other) in tasks.items()),
            )
            for paper, tasks in scores.items()
        ),
        "papers",
        title=_("Without it: worse in {worse} of {n} tasks (BERT), better in {better} of {m} (RoBERTa)").format(
            worse=sum(without < with_ for with_, without in bert.values()),
            n=len(bert),
            better=sum(without > with_ for with_, without in roberta.values()),
            m=len(roberta),
        ),
        data=lambda: [
            {_("paper"): paper, _("task"): task, _("with"): one, _("without"): other}
            for paper, tasks in scores.items()
            for task, (one, other) in tasks.items()
        ],
    )
    st.caption(
        _(
            "With → without, in points; development sets, base-size models; F1 for SQuAD, else accuracy. BERT: §5.1, "
            "table 5, “No NSP”. RoBERTa: §4.2, table 2, SEGMENT-PAIR → DOC-SENTENCES; medians of five seeds."
        )
    )
    lesson.show("Was it of any use?", title=False)
    lesson.show("The question made harder")
    trainings = {"none": _("masked words only"), "nsp": _("+ next sentence"), "sop": _("+ sentence order")}
    questions = (_("next, or from elsewhere?"), _("in order, or swapped?"))
    rows = {trainings[row["trained"]]: (float(row["nsp"]), float(row["sop"])) for row in lesson.table("albert.csv")}
    listed = " ".join(
        f"{name}{_(': ')}{questions[0]} {one:.1f}{_('; ')}{questions[1]} {other:.1f}{_('.')}"
        for name, (one, other) in rows.items()
    )
    figure(
        partial(trained_and_asked, rows, questions),
        _("Accuracy in percent by what the model was trained on.") + f" {listed}",
        "albert",
        title=_(
            "On sentence order: {nsp:.1f} % after training on next sentences, {sop:.1f} % after training on order"
        ).format(nsp=rows[trainings["nsp"]][1], sop=rows[trainings["sop"]][1]),
        data=lambda: [
            {_("trained on"): name, questions[0]: one, questions[1]: other} for name, (one, other) in rows.items()
        ],
    )
    st.caption(_("Accuracy in percent. Lan et al. 2020 (ALBERT), §4.6, table 5, intrinsic tasks; ALBERT-base."))
