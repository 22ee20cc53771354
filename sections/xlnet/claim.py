"""The claim: words that belong together, all masked; recorded results, with verdicts."""

import statistics
import tomllib
from functools import partial

import streamlit as st

from minibert.experiments import claims
from minibert.experiments.results import by_arm
from plots.xlnet import by_way
from sections.xlnet.subject import Inputs
from ui.claim import caption_records, in_words, recorded_or_hint, show_verdicts, table_in_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    paper = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))
    records, names = recorded_or_hint(lesson.name), table_in_words("xlnet")["arms"]
    if not records:
        the_papers_table(paper)
        return
    ways = {"at_once": _("all at once"), "in_order": _("one after the other")}
    drawn(names, records, "joint", ways, _("log-probability of the words together, nats"))
    drawn(names, records, "fits", ways, _("draws whose words go together"), percent=True)
    show_verdicts(claims.judged("xlnet", records), names)
    words = _(
        "Each arm read the same {tokens:,} tokens ({steps:,} steps, {masked:.0%} guessed, {n}) and was tested on the "
        "same {groups} groups of words in stories it had not read. Processor seconds: {seconds}."
    )
    scale = records[-1]["scale"]
    caption_records(records, words, masked=scale["masked"], groups=scale["groups"])
    lesson.show("Why it comes out so")
    the_papers_table(paper)


def drawn(names: dict[str, str], records: list[dict], measure: str, ways: dict[str, str], axis: str, *, percent=False):
    """Results of each arm, predicted all at once and one after the other."""
    results = {way: by_arm(records, f"{measure}_{way}") for way in ways}
    arms = {
        name: {words: list(results[way][arm].values()) for way, words in ways.items() if arm in results[way]}
        for arm, name in names.items()
        if any(arm in values for values in results.values())
    }
    means = {(name, way): statistics.fmean(values) for name, points in arms.items() for way, values in points.items()}
    form = (lambda value: f"{value:.0%}") if percent else (lambda value: f"{value:.2f}".replace("-", "−"))
    listed = _("; ").join(f"{name}{_(', ')}{way}{_(': ')}{form(value)}" for (name, way), value in means.items())
    claimed = [(names["bert"], ways["at_once"]), (names["xlnet"], ways["in_order"])]
    title = " · ".join(
        f"{name}{_(', ')}{way}{_(': ')}{form(means[name, way])}" for name, way in claimed if (name, way) in means
    )
    table = [
        {
            _("arm"): name,
            _("way"): way,
            _("mean"): form(statistics.fmean(values)),
            _("sd"): form(statistics.stdev(values)) if len(values) > 1 else "–",
            _("seeds"): len(values),
        }
        for name, points in arms.items()
        for way, values in points.items()
    ]
    figure(
        partial(by_way, arms, axis, title, percent=percent),
        _("{axis}. {told}.").format(axis=axis, told=listed),
        f"{measure}-claim",
        data=table,
    )


def the_papers_table(paper: dict) -> None:
    """The paper's own ablation, on other tasks than ours."""
    columns = paper["table"]["columns"]
    with st.expander(_("The paper’s ablation"), icon=":material/table:"):
        rows = [
            {_("model"): in_words(row["name"]), **dict(zip(columns, row["values"], strict=True))}
            for row in paper["table"]["rows"]
        ]
        st.table(rows)
        st.caption(literal(in_words(paper["table"]["source"])))
