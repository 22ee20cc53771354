"""The claim: the course's table on Chinese sentiment, beside our recorded results in both languages."""

import streamlit as st

from sections.few_labels.subject import Subject
from ui.claim import made_with, show_claim
from ui.inputs import choice
from ui.lesson import Lesson
from ui.text import literal
from ui.translations import _, ngettext


def show(lesson: Lesson, seen: Subject) -> None:
    lesson.show("The claim", title=False)
    count = choice("count", _("Labels"), {"32": "32", "8": "8", "100": "100"})
    measure = "accuracy" if count == "32" else f"accuracy_{count}"
    title = {"en": _("SST-2, accuracy × 100"), "zh": _("ChnSentiCorp, accuracy × 100")}[seen.language]
    show_claim(lesson, measure, title, claim=seen.language, made=recorded)
    lesson.show("Why it comes out so")


def recorded(records: list[dict]) -> None:
    last, scale = records[-1], records[-1]["scale"]
    seeds = len({record["seed"] for record in records})
    seconds = {record["arm"]: record["seconds"] for record in records}
    st.caption(
        _("All begin with {start}; {labels} labels, others with each seed ({n}); measured on {measured} texts of the "
          "dev set. Processor seconds for the three sizes together: {seconds}. {processor}, torch {torch}, {date}. "
          "Made with: {command}").format(
            start=literal(last["pretraining"]["begins_with"]),
            labels=", ".join(map(str, scale["labels"])),
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds),
            measured=scale["measured"],
            seconds=", ".join(f"{literal(arm)} {value:.0f}" for arm, value in seconds.items()),
            **made_with(last),
        )
    )  # fmt: skip
