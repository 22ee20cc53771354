"""The papers' claims, beside the results recorded in this repository."""

import streamlit as st

from minibert.experiments import claims
from sections.what_to_hide.subject import Inputs
from ui.claim import mean_and_sd, records_of, show_claim, show_missing_results, show_verdicts, table_in_words
from ui.inputs import choice
from ui.lesson import Lesson
from ui.translations import _

CLAIMS = ("spans", "words", "mismatch")


def measures() -> dict[str, str]:
    """Metric of a record → display name."""
    return {
        "span": _("three words in a row, all predicted correctly"),
        "span_whole": _("all three right"),
        "span_boundary": _("three words, by the boundaries alone"),
        "determined": _("one masked word predicted correctly"),
        "corrected": _("a wrong word corrected, nothing masked"),
        "who_is_meant": _("whom a pronoun means, F1"),
    }


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    titles = {"spans": _("spans (SpanBERT)"), "words": _("whole words and similar ones"), "mismatch": _("the mismatch")}
    claim = choice("claim", _("Which claim"), titles, wrap=True)
    name = f"{lesson.name}-{claim}"
    if claim == "mismatch":
        lesson.show("The mismatch")
        if records := records_of(name):
            show_verdicts(claims.judged(name, records), table_in_words(name)["arms"])
        else:
            show_missing_results(lesson.name)
    else:
        show_claim(name, "who_is_meant", measures()["who_is_meant"])
    everything(records_of(lesson.name))
    lesson.show("Why small models may disagree")


def everything(records: list[dict]) -> None:
    """All metrics, by arm."""
    if not records:
        return
    results = {words: claims.values(records, metric) for metric, words in measures().items()}
    names = {arm: name for claim in CLAIMS for arm, name in table_in_words(f"what_to_hide-{claim}")["arms"].items()}
    rows = [
        {
            _("arm"): names.get(arm, arm),
            **{words: mean_and_sd(values.get(arm, {}).values()) for words, values in results.items()},
        }
        for arm in dict.fromkeys(record["arm"] for record in records)
    ]
    with st.expander(_("All that was measured")):
        st.table(rows)
        st.caption(
            _(
                "Means over the seeds and one standard deviation, in percent, on stories that no arm has read. The "
                "arm “spans” did not learn to predict from the boundaries."
            )
        )
