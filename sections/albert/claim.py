"""The paper's claims beside the results recorded here, and ALBERT's lines against BERT's."""

import streamlit as st

from sections.albert.subject import Inputs
from ui.claim import mean_and_sd, of_common_seeds, records_of, show_claim, show_missing_results
from ui.code_diff import CodeChange, show_diff
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _

MEASURES = {"order": "sop", "next": "nsp", "use": "who_is_meant", "sharing": "who_is_meant", "wide": "who_is_meant"}


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    claims = {
        "order": _("sentence order"),
        "next": _("next sentence"),
        "use": _("what it brings"),
        "sharing": _("sharing, E narrow"),
        "wide": _("sharing, E = H"),
        "time": _("time"),
    }
    claim = choice("claim", _("Which claim"), claims, wrap=True)
    if claim == "time":
        _time(lesson)
        return
    titles = {
        "sop": _("order judged right, %"),
        "nsp": _("next sentence judged right, %"),
        "who_is_meant": _("whom a pronoun means, F1"),
    }
    show_claim(f"albert-{claim}", MEASURES[claim], titles[MEASURES[claim]])
    lesson.show("Why small models may disagree")


def _time(lesson: Lesson) -> None:
    """CPU time per training step and per answer, and weights, of each recorded arm; beside them the paper's speeds."""
    lesson.show("Fewer weights, as much work", title=False)
    names = {
        "bert": "BERT",
        "none": _("nothing shared"),
        "attention": _("attention shared"),
        "feed-forward": _("feed-forward shared"),
        "all": _("all shared (ALBERT)"),
    }
    groups: dict[str, list[dict]] = {}
    if records := [record for record in records_of(lesson.name) if record["arm"] in names]:
        for record in of_common_seeds(records):
            groups.setdefault(record["arm"], []).append(record)
    rows = [
        {
            _("arm"): name,
            _("weights"): f"{groups[arm][0]['parameters']:,}",
            _("a step, ms"): mean_and_sd((1_000 * one["seconds"] / one["steps"] for one in groups[arm]), 0),
            _("an answer, ms"): mean_and_sd((one["metrics"]["milliseconds"] for one in groups[arm]), 2),
            _("seeds"): len(groups[arm]),
        }
        for arm, name in names.items()
        if arm in groups
    ]
    if not rows:
        show_missing_results(lesson.name)
        return
    st.table(rows)
    st.caption(
        _(
            "Processor time, mean over the seeds: a step reads 16 pairs forward and backward, an answer is one story "
            "read forward. All have three layers of 128."
        )
    )


def show_diff_to_bert(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.model import Embeddings, stack
    from minibert.relatives import albert
    from minibert.relatives.parts.factorised import FactorisedEmbeddings
    from minibert.text.segment_pairs import ordered_pairs, segment_pairs

    lesson.show("The difference as a diff", title=False)
    show_diff(
        [
            CodeChange(_("One block"), stack, albert.blocks),
            CodeChange(_("A narrow embedding"), Embeddings, FactorisedEmbeddings),
            CodeChange(_("Order in the place of topic"), segment_pairs, ordered_pairs),
        ]
    )
    show_source(albert, find="RELATIVE = ", label=_("All of the relative: `minibert/relatives/albert.py`"))
