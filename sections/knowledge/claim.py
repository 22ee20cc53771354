"""The claims of WKLM, SemBERT and ERNIE (Tsinghua) beside their recorded results; and K-BERT's code."""

from minibert.experiments import claims
from minibert.experiments.relative_catalogue import RELATIVE_EXPERIMENTS
from minibert.experiments.results import by_arm
from sections.knowledge.subject import Inputs
from ui.claim import (
    floors_of,
    in_words,
    records_of,
    seeds_in_words,
    show_by_measure,
    show_missing_results,
    show_provenance,
    show_verdicts,
    table_in_words,
)
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal
from ui.translations import _

PAPERS = ("wklm", "sembert", "ernie_thu")


def show(lesson: Lesson, inputs: Inputs) -> None:
    papers = {name: table_in_words(name) for name in PAPERS}
    lesson.show("The claim", title=False)
    name = choice("claim", _("Whose claim"), {key: paper["title"] for key, paper in papers.items()}, wrap=True)
    paper, records = papers[name], records_of(name)
    if not records:
        show_missing_results(name)
        return
    arms, found = paper["arms"], {words: by_arm(records, metric) for metric, words in paper["measures"].items()}
    values = {
        words: {arms[arm]: list(seeds.values()) for arm, seeds in by.items() if arm in arms}
        for words, by in found.items()
    }
    show_by_measure(values, paper["axis"], f"claim-{name}", floors_of(name, paper["measures"], records))
    show_verdicts(claims.judged(name, records), arms, _("points"))
    lesson.show(f"What came out: {claims.tables()[name]['title']}")
    last = records[-1]
    words = _(
        "{title}. A dot a seed, {n}. Each arm goes on from `{begins}`, {steps:,} steps in all, on the same stories, "
        "and is measured on others."
    ).format(
        title=literal(in_words(RELATIVE_EXPERIMENTS[last["experiment"]].title)),
        n=seeds_in_words(records),
        begins=last["scale"]["begins_with"],
        steps=last["steps"],
    )
    show_provenance(records, words)


def show_code(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.knowledge.sentence_tree import SentenceTree, read, sentence_tree

    lesson.show("The difference as code", title=False)
    show_source(sentence_tree, label=_("Where a branch stands, and its soft positions"), expanded=True)
    show_source(SentenceTree.visible, label=_("Who sees whom"))
    show_source(read, label=_("BERT reads it"))
