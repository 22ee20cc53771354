"""Table 8 of the paper, with all its numbers."""

from functools import partial

import streamlit as st

from sections.masking.subject import Inputs
from ui.figures import figure, legend
from ui.lesson import Lesson
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.masking import OUTCOMES, ablation

    table = lesson.table("table8.csv")
    parts = {"mask": "[MASK]", "same": _("kept"), "random": _("random")}
    strategies = [
        " · ".join(f"{row[column]} % {name}" for column, name in parts.items() if row[column] != "0") for row in table
    ]
    measures = {
        "NER features": _("NER, frozen features"),
        "NER fine-tuned": _("NER, fine-tuned"),
        "MNLI fine-tuned": _("MNLI, fine-tuned"),
    }
    scores = {title: [float(row[column]) for row in table] for column, title in measures.items()}
    words = {"baseline": ("★", _("the paper's mixture")), "no worse": ("●", _("no worse")), "worse": ("◆", _("worse"))}
    legend([(OUTCOMES[outcome][0], symbol, text) for outcome, (symbol, text) in words.items()])
    tuned, frozen = scores[measures["NER fine-tuned"]], scores[measures["NER features"]]
    listed = " ".join(
        f"{strategy}{_(': ')}{_(', ').join(f'{title} {values[i]:.1f}' for title, values in scores.items())}{_('.')}"
        for i, strategy in enumerate(strategies)
    )
    figure(
        partial(ablation, strategies, scores),
        _("Scores on development sets. ") + listed,
        "ablation",
        title=_("Always [MASK] costs NER {frozen:.1f} points frozen, {tuned:.1f} fine-tuned").format(
            frozen=frozen[0] - frozen[1], tuned=tuned[0] - tuned[1]
        ),
        data=lambda: {_("strategy"): strategies, **scores},
        wide=True,
    )
    st.caption(
        _("Devlin et al. 2019, appendix C.2, table 8. BERT-base; MNLI accuracy, CoNLL-2003 NER F1; development sets.")
    )
    lesson.show("What the paper measured", title=False)
