"""What BERT itself reached: the paper's results in one picture, each with a link to a page to try its task."""

import tomllib
from functools import partial

import streamlit as st

from sections.experiments.subject import Inputs
from ui.claim import in_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.navigation import link_to
from ui.translations import _, pgettext


def show(lesson: Lesson, inputs: Inputs) -> None:
    from plots.experiments import reached

    lesson.show("What BERT reached", title=False)
    rows = tomllib.loads((lesson.folder / "results.toml").read_text(encoding="utf-8"))["row"]
    named = [(in_words(row["name"]), round(row["score"] - row["gain"], 1), row["score"]) for row in rows]
    gains = [row["gain"] for row in rows]
    figure(
        partial(
            reached,
            named,
            (_("the best before"), "BERT-large"),
            _("percent"),
            _("Better than the best before in every one, by {low} to {high} points").format(
                low=min(gains), high=max(gains)
            ),
        ),
        " ".join(f"{name}{_(': ')}{before:.1f} → {score:.1f}{_('.')}" for name, before, score in named),
        "reached",
        data=[
            {
                _("task"): in_words(row["name"]),
                _("measure"): in_words(row["measure"]),
                "BERT-large": row["score"],
                _("gain"): row["gain"],
                _("measured on"): in_words(row["split"]),
                pgettext("of a paper", "where"): in_words(row["where"]),
            }
            for row in rows
        ],
    )
    st.markdown(_("**Try the task here**"))
    with st.container(horizontal=True, key="reached-links"):
        for task in dict.fromkeys(row["task"] for row in rows):
            named = dict.fromkeys(row["name"].split(":")[0].split(",")[0] for row in rows if row["task"] == task)
            names = _(", ").join(named)
            link_to("output_layer", label=names, query_params={"task": task})
