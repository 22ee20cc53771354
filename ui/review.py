"""Error analysis on a dev set: a picture of all predictions, then the mistakes, most confident or worst first."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from ui.cases import cases_html
from ui.tasks import VIEWS
from ui.translations import _

PAGE = 12  # mistakes shown at first


def show_review(task: Any, examples: Sequence[Mapping], evaluation: Mapping, key: str) -> None:
    """Draw the results on the dev set. examples: `dev_examples` of a run's Started details · evaluation: the
    details of its last Eval (see `minibert.finetune.evaluation.evaluate`), with a prediction for each example."""
    pairs = list(zip(examples, evaluation["predictions"], strict=True))
    if not pairs:
        st.info(_("There is nothing that was measured."))
        return
    measured = evaluation.get("measured_on", len(pairs))
    if measured > len(pairs):
        st.caption(
            _("Measured on {all:,} examples; an even sample of {n:,} of them was kept, and is drawn here.").format(
                all=measured, n=len(pairs)
            )
        )
    title, items = VIEWS[task.name].review(pairs, evaluation, key)
    st.markdown("**" + title + "**")
    if len(items) > PAGE:
        names = {"few": _("the first {n}").format(n=PAGE), "all": _("all {n}").format(n=len(items))}
        shown = st.segmented_control(
            _("How many"),
            list(names),
            format_func=names.get,
            default="few",
            required=True,
            key=f"{key}-page",
            label_visibility="collapsed",
        )
        items = items[:PAGE] if shown == "few" else items
    if items:
        st.html(cases_html(items))
