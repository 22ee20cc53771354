"""The code: classification without a new head, the perturbation of VAT, the command line."""

import streamlit as st

from sections.few_labels.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
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
