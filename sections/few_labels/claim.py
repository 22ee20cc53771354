"""What the methods' papers say of few labels, beside our recorded results in both languages; and the code."""

from collections.abc import Sequence

import streamlit as st

from sections.few_labels.subject import Inputs
from ui.claim import seconds_in_words, seeds_in_words, show_claim, show_provenance
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.text import literal
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    lesson.show("The claim", title=False)
    count = choice("count", _("Labels"), {"32": "32", "8": "8", "100": "100"})
    metric = "accuracy" if count == "32" else f"accuracy_{count}"
    title = {"en": _("SST-2, accuracy × 100"), "zh": _("ChnSentiCorp, accuracy × 100")}[inputs.language]
    show_claim(f"few_labels-{inputs.language}", metric, title, recorded)
    lesson.show("Why it comes out so")


def recorded(records: Sequence[dict]) -> None:
    last, scale = records[-1], records[-1]["scale"]
    words = _(
        "All begin with {start}; {labels} labels, others with each seed ({n}); measured on {measured} texts of the dev "
        "set. Processor seconds for the three sizes together: {seconds}."
    ).format(
        start=literal(last["pretraining"]["begins_with"]),
        labels=_(", ").join(map(str, scale["labels"])),
        n=seeds_in_words(records),
        measured=scale["measured"],
        seconds=seconds_in_words(records),
    )
    show_provenance(records, words)


def show_code(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.finetune.virtual_adversarial import adversarial_perturbation, smoothness_loss
    from minibert.heads import BertForCloze
    from minibert.tasks.pattern import cloze

    lesson.show("The code", title=False)
    show_source(BertForCloze, label=_("No new layer: all of a cloze"))
    show_source(cloze, label=_("The text in its pattern"))
    show_source(adversarial_perturbation, label=_("VAT: the push that hurts most"))
    show_source(smoothness_loss)
    lesson.show("Take it away")
    st.code(
        "python -m minibert finetune --task cloze --train few.tsv --dev dev.tsv --model checkpoints/minilm-en \\\n"
        '    --pattern "{text} It was [MASK]." --words 0=bad 1=good,great --learning-rate 3e-5 --out my-cloze\n'
        'python -m minibert predict --model my-cloze "not a dull minute"\n'
        "python -m minibert serve --model my-cloze",
        "bash",
    )
    lesson.show("What became of it")
