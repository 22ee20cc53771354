"""What the whole page is about: the task, its data, the model, and the user's own text."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st

from minibert.tasks import TASKS, Options, Task
from minibert.tokenizer import Tokenizer
from ui.answers import answer_form
from ui.errors import translated
from ui.finetune_runs import kind_of, set_own_input
from ui.finetune_settings import DEFAULTS, budgets, fill_settings, metadata_columns, text_columns, texts_of
from ui.inputs import pick
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_cache import outline_of
from ui.model_registry import UNTRAINED, ModelInfo, available_models
from ui.model_widgets import WELL_READ, model_choice
from ui.model_widgets import choose_model as select_model
from ui.page import drawer
from ui.runs import own_runs
from ui.sticky_state import keep
from ui.task_data import ChosenData, choose_data, task_choice
from ui.tasks import VIEWS
from ui.tasks.base import TaskView
from ui.tasks.forms import MINE
from ui.text import literal, shorten
from ui.translations import _

PAGE = "output_layer"
MOST_OWN = 30  # most examples offered as a start
SHORT = 90  # most characters of an example in a list
PASSAGE = 600  # most characters of a passage above the picture
# Kept while the user is on other pages, besides the settings.
CHOICES = ("task", "data", "model", "model-for", "settings-of", "second", "choice-own", "choice-example", "format")
FIELDS = ("mine-", "column-", "choice-mine-")


@dataclass(frozen=True)
class Inputs:
    task: Task
    data: ChosenData | None
    model: str
    given: Any | None

    @property
    def view(self) -> TaskView:
        return VIEWS[self.task.name]

    @cached_property
    def options(self) -> Options:
        """How to cut the input, which columns to read, and what the new layer reads, from the settings."""
        return input_options(self.data)

    @cached_property
    def tokenizer(self) -> Tokenizer | None:
        """The model's tokenizer, plus a token per value of each metadata column read as tokens; None, after showing the
        reason, if two values would share a token."""
        tokenizer = outline_of(self.model).tokenizer
        if self.options.metadata_as != "token" or not self.options.metadata:
            return tokenizer
        from minibert.finetune.learner import with_metadata_tokens

        try:
            return with_metadata_tokens(tokenizer, self.options)
        except ValueError as error:
            st.warning(literal(translated(error)), icon=":material/error:")
            return None


def read(lesson: Lesson) -> Inputs:
    """Task, data, model and own text, in that order; data and model are in the drawer."""
    keep(PAGE, {**dict.fromkeys(CHOICES), **DEFAULTS}, prefixes=FIELDS)
    task = task_choice()
    refusals = st.container()  # in view, for the drawer may be closed
    with st.container(key="own-text", horizontal=True, vertical_alignment="bottom", gap="small"):
        first, second = st.container(width="stretch"), st.container(width=220 if in_view(task) else "content")
        with st.container(width="content"), drawer(_("Data and model")):
            data = choose_data(task, refusals)
            model = choose_model(data)
    if data:
        fill_settings(data, outline_of(model).config)
    given = own_text(lesson, task, data, first, second)
    if isinstance(given, dict) and (passage := given.get("context")):
        st.caption(literal(shorten(passage, PASSAGE)))
    if in_view(task) and given is not None:
        written = VIEWS[task].in_a_line(TASKS[task].example(given))
        warn_unread_text(model, written, most=st.session_state.get("max-length"))
    return Inputs(TASKS[task], data, model, given)


# --- the model --------------------------------------------------------------------------------------------------------


def starting_points() -> list:
    return available_models(begin=True, trained=True)


def choose_model(data: ChosenData | None) -> str:
    """The checkpoint to begin with; by default one for the data's language."""
    names = [info.name for info in starting_points()]
    if not names:
        return UNTRAINED
    language = data.language if data else "en"
    if st.session_state.get("model-for", "en") != language:
        st.session_state["model-for"] = language
        fitting = [name for name in names if name.endswith(f"-{language}")] or names
        st.session_state["model"] = WELL_READ if WELL_READ in fitting else fitting[0]
    return model_choice(begin=True, trained=True, label=_("The pre-trained model"), default=WELL_READ)


def second_model(first: str) -> ModelInfo:
    """The checkpoint that "from a second checkpoint" begins with; at first another one than `first`."""
    models = {info.name: info for info in starting_points()}
    other = next((name for name in models if name != first), first)
    titles = {name: info.title for name, info in models.items()}
    folders = {name: info.directory for name, info in models.items()}
    with st.container(width=460):
        return models[select_model("second", _("The second checkpoint"), titles, folders, other)]


def input_options(data: ChosenData | None) -> Options:
    kept = {"max_length": "max-length", "doc_stride": "stride", "truncation": "truncation", "pooling": "pooling"}
    kept |= {"layers": "layers", "metadata_as": "metadata-as"}
    kept |= {"classifier_depth": "depth", "classifier_activation": "activation"}
    if (st.session_state.get("depth") or 1) > 1:
        kept["classifier_norm"] = "norm"
    found = {option: st.session_state.get(key) for option, key in kept.items()}
    further = further_texts(data, st.session_state.get("texts-beside", ()))
    beside = columns_beside(data, [name for name in st.session_state.get("metadata", ()) if name not in further])
    if found["truncation"] == "budget":
        share = st.session_state.get("first-share")
        texts = texts_of(data.task, further) if data else 1
        if texts > 1 and share and found["max_length"]:
            tokens = len(beside) if found["metadata_as"] == "token" else 0
            found["budgets"] = budgets(found["max_length"] - tokens, share, texts)
        else:  # the setting belongs to another task
            del found["truncation"]
    return Options(
        **{option: value for option, value in found.items() if value},
        metadata=tuple(beside),
        metadata_values=beside,
        texts_beside=further,
    )


def further_texts(data: ChosenData | None, names: Iterable[str]) -> tuple[str, ...]:
    """The names of text columns that the data has, if the task reads further texts."""
    wanted = list(names)
    columns = text_columns(data) if data and wanted and data.task.reads_texts else []
    return tuple(name for name in wanted if name in columns)


def columns_beside(data: ChosenData | None, names: Iterable[str]) -> dict[str, list[str]]:
    """The names of columns that the data has, each with its values."""
    wanted = list(names)
    columns = metadata_columns(data) if data and wanted else {}  # slow: reads all of the data
    return {name: columns[name] for name in wanted if name in columns}


# --- the user's own text ----------------------------------------------------------------------------------------------


def in_view(task: str) -> bool:
    """Whether the task's fields are one or two short texts, which stay in view; others are in a popover."""
    return set(VIEWS[task].fields) <= {"text", "pair"}


def own_text(lesson: Lesson, task: str, data: ChosenData | None, first, second) -> Any | None:
    """The fields for the user's own input, which all runs answer from then on. first, second: containers side by
    side."""
    own = [TASKS[task].example(given) for given in inputs_of(lesson, data.key if data else "", task)]
    some = data.dev.examples[:MOST_OWN] if data else []
    titles = [shorten(VIEWS[task].in_a_line(example), SHORT) for example in (*own, *some)]
    place = first if in_view(task) else second.popover(_("Write your own"), icon=":material/edit:")
    with second if in_view(task) else first:
        example = [*own, *some][pick("own", _("Or take one"), titles)]
    begun = [run.latest("started") for run in own_runs(kind_of(task))]
    used = [name for event in begun if event for name in event["settings"].get("metadata", ())]
    columns = columns_beside(data, [*st.session_state.get("metadata", ()), *used])
    read = [name for event in begun if event for name in event["settings"].get("texts_beside", ())]
    columns |= dict.fromkeys(further_texts(data, [*st.session_state.get("texts-beside", ()), *read]))
    with place:
        given = answer_form(TASKS[task], example, key=MINE, columns=columns)
    if given is not None:
        set_own_input(task, given)
    return given


def inputs_of(lesson: Lesson, key: str, task: str) -> list[Any]:
    """Our own input for a data set, not part of its texts; for a user's file, the inputs for its task."""
    everything = tomllib.loads((lesson.folder / "inputs.toml").read_text(encoding="utf-8"))
    if key in everything:
        return [everything[key]]
    return [everything[name] for name in VIEWS[task].sets() if name in everything]
