"""Input and head: the task in words, one example on its way to the model, and the few new lines of code."""

import math
from typing import Any

import streamlit as st

from minibert.tasks import TASKS, Options
from sections.output_layer.subject import SHORT, Inputs
from ui.answers import answer_form
from ui.inputs import pick
from ui.lesson import Lesson
from ui.model_cache import outline_of, version_of
from ui.source import show_source
from ui.task_input import show_input
from ui.text import shorten
from ui.translations import _

MOST_EXAMPLES = 200  # most examples offered


def show(lesson: Lesson, subject: Inputs) -> None:
    lesson.show(subject.view.section, level=3)
    if subject.data is None:
        st.info(_("Choose data first, under *Data and model*."), icon=":material/arrow_upward:")
        return
    _input(subject)
    lesson.show("What is added", level=3)
    _head(subject)


@st.fragment
def _input(subject: Inputs) -> None:
    """One of the data's examples, or the user's edited version of it."""
    data, task, options = subject.data, subject.task, subject.options
    examples = data.dev.examples[:MOST_EXAMPLES]
    st.markdown("### " + _("How the input is built"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        titles = [f"{n} · {shorten(data.view.in_a_line(example), SHORT)}" for n, example in enumerate(examples, 1)]
        example = examples[pick("example", _("An example of the data"), titles)]
        changing = st.toggle(_("Change it"), key="change-example")
    if changing:
        given = answer_form(
            task, example, key="changed", columns={**options.metadata_values, **dict.fromkeys(options.texts_beside)}
        )
        if given is None:
            return
        example = task.example(given)
    if subject.tokenizer is not None:
        show_input(task, subject.tokenizer, example, task.labels(data.train), options, key="input")


def _head(subject: Inputs) -> None:
    """The new head: a few lines of code and a few hundred weights."""
    from minibert import heads
    from minibert.count import parameters
    from minibert.relatives import shape_of

    tokenizer, data = subject.tokenizer, subject.data
    if tokenizer is None:
        return
    config = outline_of(subject.model).config
    labels = data.task.labels(data.train)
    shapes = new_shapes(data.task.name, labels, subject.options, subject.model, version_of(subject.model))
    if (grown := tokenizer.vocab_size - config.vocab_size) > 0:
        shapes = [(grown, config.hidden_size), *shapes]
    terms = " + ".join(" × ".join(f"{size:,}" for size in shape) for shape in shapes)
    st.markdown(
        _("{terms} = **{count:,} new parameters**, beside {old:,} that come from the checkpoint.").format(
            terms=terms, count=sum(map(math.prod, shapes)), old=parameters(shape_of(config)).with_pooler
        )
    )
    name = data.task.architecture
    show_source(getattr(heads, name), find=data.view.head_lines, label=_("The head: `{name}`").format(name=name))


@st.cache_data(show_spinner=False, max_entries=100)
def new_shapes(task: str, labels: Any, options: Options, model: str, version: int) -> list[tuple[int, ...]]:
    """The shape of each weight tensor that the task adds to the model."""
    from minibert.heads import new_weights
    from minibert.training.skip_init import sizes_only

    with sizes_only():
        return list(new_weights(TASKS[task].head(outline_of(model).config, labels, options)).values())
