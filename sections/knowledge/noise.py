"""Knowledge noise: irrelevant facts attached to sentences whose answer is known."""

import csv
from dataclasses import astuple
from functools import partial

import streamlit as st

from sections.knowledge.subject import Inputs, knowledge, ways
from ui.figures import figure
from ui.first_views import first_view
from ui.lesson import LESSONS, Lesson
from ui.model_cache import language_read, load, version_of
from ui.predict import predict
from ui.source import show_source
from ui.translations import _

FILES = {"en": "cloze.tsv", "zh": "cloze-zh.tsv"}


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.knowledge.sentence_tree import SentenceTree
    from plots.knowledge import noise_bars

    lesson.show("Knowledge noise", title=False)
    questions = questions_in(language_read(inputs.model))
    question = _("{n} sentences, two foreign facts in each: where do most answers stay right?").format(n=len(questions))
    options = [ways()["both"], ways()["neither"], _("in both alike")]
    seed = st.number_input(
        _("Which words and facts: seed"), 0, 999, 0, key="noise-seed", width=230, bind="query-params"
    )
    with st.spinner(_("The sentences are read …")):
        results = noise_of(inputs.model, version_of(inputs.model), int(seed or 0))
    difference = results["both"].right - results["neither"].right
    if not predict(
        "noise", question, options, 2 if difference == 0 else int(difference < 0), about=f"{inputs.model} {seed}"
    ):
        return
    names, line = ways(), _("{way}: {right:.0%} right, turned {turned:.3f}")
    details = _("; ").join(
        line.format(way=names[way], right=one.right, turned=one.turned) for way, one in results.items()
    )
    figure(
        partial(
            noise_bars,
            [names[way] for way in results],
            [one.right for one in results.values()],
            [one.turned for one in results.values()],
            (_("answers right"), _("the blank’s vector turned: 1 − cosine")),
            _("Right: {none:.0%} without facts, {both:.0%} with the matrix, {neither:.0%} without it").format(
                **{way: results[way].right for way in ("none", "both", "neither")}
            ),
        ),
        _("On {n} sentences. {told}.").format(n=len(questions), told=details),
        "noise",
        wide=True,
    )
    lesson.show("What it shows", title=False)
    show_source(SentenceTree.visible)


def questions_in(language: str) -> list[tuple[str, str]]:
    with open(LESSONS / "data" / FILES[language], encoding="utf-8", newline="") as file:
        return [(row["sentence"], row["answer"]) for row in csv.DictReader(file, delimiter="\t")]


@st.cache_data(show_spinner=False, max_entries=24)
def noise_of(model: str, version: int, seed: int) -> dict:
    from minibert.knowledge.noise import NoiseEffect, noise

    language = language_read(model)
    questions, facts = questions_in(language), knowledge(language)

    def compute() -> dict[str, list[float]]:
        loaded = load(model)
        found = noise(loaded.model, loaded.tokenizer, questions, facts, seed=seed)
        return {way: [each.right, each.turned] for way, each in found.items()}

    inputs = [seed, questions, [astuple(fact) for fact in facts.facts]]
    stored = first_view("knowledge", "noise", model, inputs, compute)
    return {way: NoiseEffect(*map(float, values)) for way, values in stored.items()}
