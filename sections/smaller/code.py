"""The code: the losses, the learner that uses them, a DistilBERT initialized from BERT's layers, the command line."""

import streamlit as st

from sections.smaller.subject import Inputs
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.distillation import losses
    from minibert.distillation.learner import Distiller
    from minibert.distillation.student import student_of

    lesson.show("The code", title=False)
    show_source(losses, "def ", label=_("Every loss: all of `minibert/distillation/losses.py`"))
    show_source(Distiller.forward, label=_("A step of the student: the task’s learner, and a few lines more"))
    show_source(student_of, label=_("A DistilBERT begins as every second layer of its teacher"))
    lesson.show("Take it away")
    st.code(
        "python -m minibert finetune --model checkpoints/minilm-en --train train.tsv --dev dev.tsv --out teacher\n"
        "python -m minibert finetune --model checkpoints/mini-en --train train.tsv --dev dev.tsv --teacher teacher \\\n"
        "    --distil soft attention hidden --temperature 2 --augment drop --augment-copies 3 --out student\n"
        "python -m minibert prune --model teacher --what neurons --share 0.5 --train train.tsv --dev dev.tsv --out cut",
        "bash",
    )
