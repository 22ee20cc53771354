"""Two famous cases: ARCT's arguments and HANS's three heuristics, with examples and our recorded results."""

import streamlit as st

from sections.wrong_reasons.subject import KIND, recording, training_names
from ui.claim import show_claims
from ui.lesson import Lesson
from ui.recorded import records_of, start
from ui.text import literal
from ui.translations import _, ngettext

PAPER = (0.77, 0.53)  # BERT-large’s best runs on ARCT and on its second version (Niven and Kao 2019, tables 1 and 4)


def heuristics() -> list[tuple[str, str, str, str]]:
    """(name in HANS, what it assumes, sentence, hypothesis that does not follow)."""
    return [
        (
            "lexical_overlap",
            _("lexical overlap: all words of the second stand in the first"),
            "The doctor saw the lawyer.",
            "The lawyer saw the doctor.",
        ),
        (
            "subsequence",
            _("subsequence: the second stands in the first, word after word"),
            "The thief near the king ran.",
            "The king ran.",
        ),
        (
            "constituent",
            _("constituent: the second is a whole phrase of the first"),
            "If the farmer slept, the sailor sang.",
            "The farmer slept.",
        ),
    ]


def show(lesson: Lesson, cue: str) -> None:
    lesson.show("Two famous cases", title=False)
    _arct()
    _hans()


def _arct() -> None:
    st.markdown(f"### {_('An argument of ARCT’s kind, and its twin')}")
    versions = _("as collected"), _("second version")
    lines = {
        _("reason"): ("Many people work from Monday to Saturday.",) * 2,
        _("claim"): ("The library should open on Sundays.", "The library should **not** open on Sundays."),
        _("warrant 1"): ("They could **not** come on a working day.",) * 2,
        _("warrant 2"): ("They could come on a working day.",) * 2,
        _("holds"): (_("warrant 1"), _("warrant 2")),
    }
    st.table([{"": name, **dict(zip(versions, said, strict=True))} for name, said in lines.items()])
    paper = _(
        "BERT-large, the paper’s best run: **{before:.0%}**, on the second version **{after:.0%}** (chance 50 %)."
    )
    st.markdown(paper.format(before=PAPER[0], after=PAPER[1]))
    shown = [record["metrics"] for record in records_of(KIND) if record["arm"] == "arct/original"]
    if not shown:
        st.markdown(
            _(
                "Nothing is recorded here on ARCT itself: its texts do not come with this classroom. Recorded is its "
                "cue, *not*, planted in reviews (*Plant a cue*). To record {model} on ARCT, put `train.csv`, "
                "`test.csv` and `test-adv-negated.csv` of the second version into a folder `tasks/en/arct2`, and let "
                "`MINIBERT_DATA` name the folder that holds `tasks`:"
            ).format(model=literal(start())),
            width=820,
        )
        st.code(recording("arct"), language=None)
        return
    before, after = (sum(metrics[name] for metrics in shown) / len(shown) for name in ("original", "adversarial"))
    ours = ngettext(
        "`{model}`, recorded here with {n} seed: **{before:.0%}**, on the second version **{after:.0%}**.",
        "`{model}`, recorded here with {n} seeds: **{before:.0%}**, on the second version **{after:.0%}**.",
        len(shown),
    )
    st.markdown(ours.format(model=start(), n=len(shown), before=before, after=after))


def _hans() -> None:
    st.markdown(f"### {_('HANS’s three heuristics')}")
    recorded = [record for record in records_of(KIND) if record["arm"] == "overlap/planted"]
    rows = [row for record in recorded for row in record["metrics"].get("hans", ())]
    columns = {"entailment": _("right where it follows"), "non-entailment": _("right where it does not")}
    table = []
    for name, words, first, second in heuristics():
        line = {_("heuristic"): words, _("does not follow"): f"{first} → {second}"}
        for label, title in columns.items():
            shares = [row["accuracy"] for row in rows if row["heuristic"] == name and row["label"] == label]
            if shares:
                line[title] = f"{sum(shares) / len(shares):.0%}"
        table.append(line)
    st.table(table)
    if not rows:
        st.markdown(_("HANS has not been recorded from {model} yet. What records it:").format(model=literal(start())))
        st.code(recording("overlap"), language=None)
        return
    phrase = _("Of {n} pairs each, by the model “{model}” (words in common), which began as {start}.")
    st.caption(phrase.format(n=rows[0]["n"], model=training_names()["planted"], start=literal(start())))
    show_claims("hans", records_of(KIND))
