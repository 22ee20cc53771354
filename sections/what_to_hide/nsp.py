"""Two papers that disagree about NSP: BERT's table 5 beside RoBERTa's table 2, and what each kept unchanged."""

import tomllib
from functools import partial

import streamlit as st

from minibert.experiments.claims import judged
from sections.what_to_hide.subject import Inputs
from ui.claim import in_words, records_of, signed, verdict_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.navigation import link_to
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.what_to_hide import differences

    lesson.show("Two papers, two answers", title=False)
    papers = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))["nsp"]
    columns = st.columns(2)
    rows: dict[str, dict[str, float]] = {}
    for column, paper in zip(columns, papers, strict=True):
        with column:
            st.markdown(f"**{in_words(paper['title'])}**")
            values = ((in_words(row["name"]), [f"{value:.1f}" for value in row["values"]]) for row in paper["rows"])
            st.table([{"": name, **dict(zip(paper["tasks"], shown, strict=True))} for name, shown in values])
            st.caption(literal(in_words(paper["source"])))
        with_, without = (
            next(row for row in paper["rows"] if row["name"] == paper[key]) for key in ("with", "without")
        )
        gaps = {
            task: round(b - a, 2) for task, a, b in zip(paper["tasks"], with_["values"], without["values"], strict=True)
        }
        rows[paper["short"]] = gaps
    listed = _("; ").join(
        f"{title}{_(': ')}{_(', ').join(f'{task} {signed(value)}' for task, value in gaps.items())}"
        for title, gaps in rows.items()
    )
    worse, better = (sum(value < 0 for value in gaps.values()) for gaps in rows.values())
    title = _("Without it all {n} get worse in one table, {worse} of {all} in the other").format(
        n=worse, worse=better, all=len(list(rows.values())[1])
    )
    figure(
        partial(differences, rows, _("points")),
        _("Without next sentence prediction. {told}.").format(told=listed),
        "nsp-differences",
        title=title,
        data=[
            {_("table"): title, _("task"): task, _("points"): signed(value)}
            for title, gaps in rows.items()
            for task, value in gaps.items()
        ],
    )
    lesson.show("Why they disagree")
    here()
    link_to("experiments", _("The recorded formats"), query_params={"experiment": "formats"})


def here() -> None:
    """Our recorded results of the same comparison."""
    names, verdicts = {"determined": _("words guessed right"), "meant": _("who or what is meant")}, verdict_words()
    lines = [
        _("{measure} {mean} ± {half:.1f} ({verdict})").format(
            measure=names[one.claim.metric],
            mean=signed(one.ours.mean),
            half=one.ours.half,
            verdict=verdicts[one.verdict],
        )
        for one in judged("formats", records_of("formats", set()))
        if one.ours.half is not None
    ]
    if lines:
        words = _(
            "**Here**, in the toy world, whole stories without next sentence prediction against pairs of half stories "
            "with it, in points: {told}. The words are asked in whole stories, which only the first have read."
        )
        st.markdown(words.format(told=_("; ").join(lines)), width=820)
