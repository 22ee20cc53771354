"""The claims and our recorded results: UniLM writes and still predicts masked words; a detector helps correction."""

from minibert.experiments import claims
from minibert.experiments.results import by_arm
from sections.to_write.subject import Inputs
from ui.claim import (
    caption_records,
    floors_of,
    recorded_or_hint,
    seconds_in_words,
    show_by_measure,
    show_verdicts,
    table_in_words,
)
from ui.inputs import choice
from ui.lesson import Lesson
from ui.translations import _


def measures() -> dict[str, str]:
    return {
        "answers": _("questions answered right, in a sentence"),
        "next_word": _("the next word ranked first, from what is before it"),
        "determined": _("a hidden word ranked first, read from both sides"),
        "detection_f1": _("sentences whose errors were found, F1"),
        "correction_f1": _("sentences corrected, F1"),
    }


def of_unilm(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    if recorded("to_write"):
        lesson.show("Why it comes out so")


def of_the_corrector(lesson: Lesson, inputs: None) -> None:
    titles = {"corrector": _("English, of the toy world"), "corrector_zh": _("Chinese")}
    if recorded(choice("claim", _("The corrector"), titles, bare=True)):
        lesson.show("Why the detector")


def recorded(name: str) -> bool:
    """The scores and verdicts of an experiment, or the command that records it; whether there are any."""
    records, names = recorded_or_hint(name), table_in_words(name)["arms"]
    if not records:
        return False
    results = {words: by_arm(records, metric) for metric, words in measures().items()}
    values = {
        words: {names[arm]: list(seeds.values()) for arm, seeds in arms.items() if arm in names}
        for words, arms in results.items()
        if arms
    }
    show_by_measure(values, _("percent"), "scores-claim", floors_of(name, measures(), records))
    show_verdicts(claims.judged(name, records), names)
    both = [{**record, "seconds": record["seconds"] + record["finetuning_seconds"]} for record in records]
    words = _("Each arm read {tokens:,} tokens in {steps:,} steps ({n}). Processor seconds, all in all: {seconds}.")
    caption_records(records, words, seconds=seconds_in_words(both))
    return True
