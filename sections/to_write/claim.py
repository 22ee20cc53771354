"""The claims and our recorded results: UniLM writes and still predicts masked words; a detector helps correction."""

from minibert.experiments import claims
from minibert.experiments.results import by_arm
from sections.to_write.subject import Inputs
from ui.claim import (
    records_of,
    seconds_in_words,
    seeds_in_words,
    show_by_measure,
    show_missing_results,
    show_provenance,
    show_verdicts,
)
from ui.inputs import choice
from ui.lesson import Lesson
from ui.translations import _


def measures() -> dict[str, str]:
    return {
        "answers": _("questions answered right, in a sentence"),
        "next_word": _("the next word put first, from what is before it"),
        "determined": _("a hidden word put first, read from both sides"),
        "detection_f1": _("sentences whose errors were found, F1"),
        "correction_f1": _("sentences corrected, F1"),
    }


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    titles = {
        "to_write": _("UniLM against BERT"),
        "corrector": _("The corrector"),
        "corrector_zh": _("The corrector in Chinese"),
    }
    name = choice("claim", _("The claim"), titles, wrap=True, bare=True)
    records, names = records_of(name), claims.tables()[name]["arms"]
    if not records:
        show_missing_results(name)
        return
    found = {words: by_arm(records, metric) for metric, words in measures().items()}
    values = {
        words: {names[arm]: list(seeds.values()) for arm, seeds in arms.items() if arm in names}
        for words, arms in found.items()
        if arms
    }
    show_by_measure(values, _("percent"), "scores-claim")
    show_verdicts(claims.judged(name, records), names)
    both = [{**record, "seconds": record["seconds"] + record["finetuning_seconds"]} for record in records]
    words = _("Each arm read {tokens:,} tokens in {steps:,} steps ({n}). Processor seconds, all in all: {seconds}.")
    words = words.format(
        tokens=max(record["tokens"] for record in records),
        steps=records[-1]["steps"],
        n=seeds_in_words(records),
        seconds=seconds_in_words(both),
    )
    show_provenance(records, words)
    lesson.show("Why it comes out so" if name == "to_write" else "Why the detector")
