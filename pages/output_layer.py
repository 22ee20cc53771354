"""One output layer: each of the paper's ways to use BERT, from the input to a model that answers, trained live."""

import math
import tomllib
from collections.abc import Iterable
from typing import Any

import streamlit as st

from minibert.tasks import TASKS, Options
from minibert.tokenizer import Tokenizer
from ui.finetune_runs import (
    FinetuneRun,
    ask,
    axes_of_curves,
    by_kind,
    chosen_runs,
    compare_starts,
    curves,
    draw_live,
    kind_of,
    metrics_row,
    own_answers,
    own_input,
    pick_run,
    start_runs,
    take_away,
)
from ui.finetune_settings import budgets, fill_settings, metadata_columns, settings_choice, values_buttons
from ui.inputs import pick
from ui.lesson import Lesson
from ui.models import UNTRAINED, WELL_READ, available_models, model_choice, outline_of, version_of
from ui.navigation import next_lesson
from ui.runs import manager, own_runs, settled, show_refusal
from ui.source import show_source
from ui.task_data import ChosenData, choose_data, show_data, task_choice
from ui.tasks import VIEWS
from ui.text import literal, shorten
from ui.translations import _, ngettext

# What imports torch or plotly is imported where it is first needed: the page shows before that.

MOST_EXAMPLES, MOST_OWN = 200, 30  # of the data's own, to look at and to begin an own text with
SHORT = 90  # characters of an example in a list

lesson = Lesson("output_layer")


# --- the input and the head -------------------------------------------------------------------------------------------


def starting_points() -> list:
    return available_models(fill=True, trained=True)


def choose_model(data: ChosenData | None) -> str:
    """The checkpoint to begin with; one for the language of the data, until the reader chooses another."""
    names = [info.name for info in starting_points()]
    if not names:
        return UNTRAINED
    language = data.language if data else "en"
    if st.session_state.get("model-for", "en") != language:
        st.session_state["model-for"] = language
        fitting = [name for name in names if name.endswith(f"-{language}")] or names
        st.session_state["model"] = WELL_READ if WELL_READ in fitting else fitting[0]
    return model_choice(fill=True, trained=True, label=_("The pre-trained model"), usual=WELL_READ)


def input_options(data: ChosenData) -> Options:
    """How the input is cut, what is read beside it and what the new layer reads, as the settings further down say."""
    kept = {"max_length": "max-length", "doc_stride": "stride", "truncation": "truncation", "pooling": "pooling"}
    kept |= {"layers": "layers", "metadata_as": "metadata-as"}
    found = {option: st.session_state.get(key) for option, key in kept.items()}
    beside = columns_beside(data, st.session_state.get("metadata", ()))
    if found["truncation"] == "budget":
        share = st.session_state.get("first-share")
        if data.task.two_texts and share and found["max_length"]:
            tokens = len(beside) if found["metadata_as"] == "token" else 0
            found["budgets"] = budgets(found["max_length"] - tokens, share)
        else:  # chosen for another task, or its slider comes further down
            del found["truncation"]
    return Options(
        **{option: value for option, value in found.items() if value}, metadata=tuple(beside), metadata_values=beside
    )


def columns_beside(data: ChosenData | None, names: Iterable[str]) -> dict[str, list[str]]:
    """Those of the columns that the data has, with the values of each."""
    wanted = list(names)
    columns = metadata_columns(data) if data and wanted else {}  # reads through all of the data
    return {name: columns[name] for name in wanted if name in columns}


@st.fragment
def the_input(data: ChosenData, model: str) -> None:
    """An example on its way to the model: one of the data's own, or one the reader has changed."""
    from ui.answer_form import answer_form
    from ui.task_input import show_input

    task, examples, options = data.task, data.dev.examples[:MOST_EXAMPLES], input_options(data)
    st.markdown("### " + _("How the input is built"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        titles = [
            f"{number} · {shorten(data.view.in_a_line(example), SHORT)}" for number, example in enumerate(examples, 1)
        ]
        example = examples[pick("example", _("An example of the data"), titles)]
        changing = st.toggle(_("Change it"), key="change-example")
    if changing:
        given = answer_form(task, example, key="changed", columns=options.metadata_values)
        if given is None:
            return
        example = task.example(given)
    tokenizer = tokenizer_of(model, options)
    if tokenizer is not None:
        show_input(task, tokenizer, example, task.labels(data.train), options, key="input")


def tokenizer_of(model: str, options: Options) -> Tokenizer | None:
    """The model's, with a token for each value of a column that is read as one; None, and on the page the reason, where
    two values would be the same token."""
    tokenizer = outline_of(model).tokenizer
    if options.metadata_as != "token" or not options.metadata:
        return tokenizer
    from minibert.finetune.learner import with_metadata_tokens

    try:
        return with_metadata_tokens(tokenizer, options)
    except ValueError as error:
        st.warning(literal(error), icon=":material/error:")
        return None


def the_head(data: ChosenData, model: str) -> None:
    """What is new: a few lines of code and a few hundred numbers."""
    from minibert import heads
    from minibert.count import parameters

    st.markdown("### " + _("The head"))
    options, config = input_options(data), outline_of(model).config
    tokenizer = tokenizer_of(model, options)
    if tokenizer is None:
        return
    shapes = new_shapes(data.task.name, data.task.labels(data.train), options, model, version_of(model))
    if (grown := tokenizer.vocab_size - config.vocab_size) > 0:
        shapes = [(grown, config.hidden_size), *shapes]
    terms = " + ".join(" × ".join(f"{size:,}" for size in shape) for shape in shapes)
    st.markdown(
        _("{terms} = **{count:,} new parameters**, beside {old:,} that come from the checkpoint.").format(
            terms=terms, count=sum(map(math.prod, shapes)), old=parameters(config).with_pooler
        )
    )
    name = data.task.architecture
    show_source(getattr(heads, name), find=data.view.head_lines, label=_("The head: `{name}`").format(name=name))


@st.cache_data(show_spinner=False, max_entries=100)
def new_shapes(task: str, labels: Any, options: Options, model: str, version: int) -> list[tuple[int, ...]]:
    """The shape of each weight that the task adds to the model."""
    import torch

    from minibert.heads import new_weights

    with torch.device("meta"):  # only the shapes are asked for
        return list(new_weights(TASKS[task].head(outline_of(model).config, labels, options)).values())


# --- training ---------------------------------------------------------------------------------------------------------


def controls(data: ChosenData, model: str) -> None:
    checkpoint = next((info.directory for info in starting_points() if info.name == model), None)
    config = outline_of(model).config
    chosen = settings_choice(data, config.num_hidden_layers)
    if checkpoint is None:
        st.warning(_("There is no checkpoint to start from in `checkpoints/`."))
    with st.container(horizontal=True, vertical_alignment="center"):
        label = ngettext("Train {n} model", "Train {n} models", chosen.runs).format(n=chosen.runs)
        ready = chosen.runs > 0 and checkpoint is not None
        if st.button(label, type="primary", icon=":material/play_arrow:", disabled=not ready, key="train"):
            start_runs(checkpoint, data, chosen, kind_of(data.task.name))
        values_buttons(data, config)
    show_refusal()


def results(task: str, data: ChosenData | None) -> None:
    """The runs of one click, as long as they go on and afterwards, and what they answer to the reader."""
    own_text(task, data)
    st.markdown("### " + _("The runs"))
    runs = chosen_runs(kind_of(task))
    if not runs:
        with st.container(border=True):
            st.markdown(_("**No run yet.** Press *Train*: the first point of the curves comes within seconds."))
        progress([], task, data)
        return
    draw_live(runs, lambda shown: progress(shown, task, data))
    if all(map(settled, runs)):
        review(runs)


def progress(shown: list[FinetuneRun], task: str, data: ChosenData | None) -> None:
    """What can be seen while the models learn, and before."""
    if not shown:
        if data:
            axes_of_curves(data)
        return
    curves(shown)
    own_answers(shown, own_input(task))
    compare_starts(shown)


@st.fragment
def own_text(task: str, data: ChosenData | None) -> None:
    """The fields for the reader's own input; the runs answer it from then on."""
    from ui.answer_form import answer_form

    st.markdown("### " + _("Your own text") + "\n" + _("The models answer it while they learn, and afterwards."))
    own = [TASKS[task].example(given) for given in inputs_of(data.key if data else "", task)]
    some = data.dev.examples[:MOST_OWN] if data else []
    titles = [shorten(VIEWS[task].in_a_line(example), SHORT) for example in (*own, *some)]
    example = [*own, *some][pick("own", _("Begin with"), titles)]
    begun = [run.latest("started") for run in own_runs(kind_of(task))]
    used = [name for event in begun if event for name in event["settings"].get("metadata", ())]
    columns = columns_beside(data, [*st.session_state.get("metadata", ()), *used])
    given = answer_form(TASKS[task], example, key="mine", columns=columns)
    if given is not None:
        ask(task, given)


def inputs_of(key: str, task: str) -> list[Any]:
    """Our own input for a data set, which holds no such text; for a file of the reader's, those of its task."""
    everything = tomllib.loads((lesson.folder / "inputs.toml").read_text(encoding="utf-8"))
    if key in everything:
        return [everything[key]]
    return [everything[name] for name in VIEWS[task].sets()]


def review(runs: list) -> None:
    """What one run gets right and wrong, mistakes first; then the model to take away."""
    from ui.review import show_review

    shown = [one for one in map(FinetuneRun, runs) if one.begun]
    if not shown:
        return
    st.markdown("### " + _("Right and wrong"))
    one = pick_run(shown)
    metrics_row(one)
    show_review(TASKS[one.task], one.details["dev_examples"], one.last_eval["details"], key="review")
    by_kind(shown)
    lesson.show("From file to service")
    take_away(one)


# --- the page ---------------------------------------------------------------------------------------------------------

lesson.show_title()
manager().warm_up()
lesson.show("What is added")
task = task_choice()
lesson.show(VIEWS[task].section)
with st.container(border=True):
    data = choose_data(task)
    if data:
        show_data(data)
with st.columns([1, 2])[0]:
    model = choose_model(data)
if data:
    fill_settings(data, outline_of(model).config)
    the_input(data, model)
    head = st.container()  # filled last: its lines of code come with torch
lesson.show("What the pre-trained weights bring")
lesson.show("Train it")
if data:
    controls(data, model)
else:
    st.info(_("Choose data first, further up."), icon=":material/arrow_upward:")
results(task, data)
lesson.show("How much to believe")
lesson.show("Read the mistakes")
lesson.quiz()
next_lesson("output_layer")
if data:
    with head:
        the_head(data, model)
