"""A mistake changed in place: the run's answers to it and to the changed text, side by side."""

import json
from collections.abc import Mapping, Sequence

import streamlit as st

from minibert.tasks import TASKS
from ui.answers import answer_form, headline, show_answer
from ui.finetune_runs import FinetuneRun, answer_of
from ui.inputs import pick
from ui.runs import complete
from ui.tasks import VIEWS
from ui.tasks.base import least_right
from ui.text import literal, shorten
from ui.translations import _

SHORT = 90  # most characters of an example in a list


def show(one: FinetuneRun, examples: Sequence[Mapping], predictions: Sequence[Mapping]) -> None:
    """Choose a mistake, change it, and see whether the answer changes. Nothing without a mistake or the model."""
    task = TASKS[one.task]
    wrong = least_right(list(zip(examples, predictions, strict=True)))
    if not wrong or not complete(one.run.result):
        return
    st.markdown("### " + _("Change a mistake"))
    st.markdown(_("Which word made the model answer so? Change it, and read the two answers."))
    texts = [task.restored(example) for example, _said in wrong]
    chosen = pick("edited", _("The mistake"), [shorten(one.view.in_a_line(example), SHORT) for example in texts])
    read = [*one.settings.get("metadata", ()), *one.settings.get("texts_beside", ())]
    given = answer_form(task, texts[chosen], key="edit", columns=dict.fromkeys(read))
    if given is None:
        return
    changed = answer_of(one.run.id, str(one.run.result), json.dumps(given))
    with st.container(horizontal=True, gap="large", key="both-answers"):
        _answer(_("The answer to the text of the file"), task, wrong[chosen][1])
        _answer(_("The answer to the text above"), task, changed)
    show_answer(task, given, changed, key="edited-answer")


def _answer(title: str, task, answer: Mapping) -> None:
    words, value = headline(task, answer)
    is_share = VIEWS[task.name].number_title()[1] == 1.0
    sure = "" if value is None else f" · {value:.1%}" if is_share else f" · {value:.2f}"
    st.markdown(f"{title}  \n**{literal(words)}**{sure}", width=380)
