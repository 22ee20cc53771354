"""Labelled data for fine-tuning: sets shipped with the course, or the user's own files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from jobs.sandbox import SandboxError, run_sandboxed
from minibert.tasks import TASKS, Task, TaskData, TaskDataError, guess_format, guess_task
from minibert.tasks.sampling import even_sample
from minibert.tasks.tables import COLUMN_NAME, LOOKED_AT, column, header_of, names_its_columns, table
from minibert.text.characters import is_cjk
from ui.door.uploads import MB
from ui.errors import translated
from ui.inputs import choice
from ui.lesson import LESSONS
from ui.state import follow_link, set_url, url_choice
from ui.sticky_state import sticky_uploader
from ui.tasks import VIEWS
from ui.tasks.base import DataSet, TaskView
from ui.text import literal, shorten, visible
from ui.translations import DEFAULT, _, first_language, ngettext

OWN = "own"
FIRST = "animals"  # default set of its task: small, and shows the benefit of pre-training
_KEPT = "task data"
MOST_TRAINING, MOST_DEV, MOST_TEST = 20_000, 5_000, 1_000  # examples, enough for a lesson
MOST_TITLE = 24  # characters of a cell shown as the title of its column
MOST_LABELS = 200  # with more, the wrong column was probably chosen
PREVIEW, PROBLEMS = 5, 1_000  # rows
SHORT = 300  # characters of a text in the preview
READ_HERE = 4 * MB  # larger files are read in a separate process
FIRST_LINE = 100_000  # bytes read to find a table's first line
# session_state keys: the page's task, the file whose task was guessed, the files last read and their data
_TASK, _SEEN, _READ = "task", "_file-seen", "_files-read"
_READ_AS = "_file-read-as"  # session_state key: (task, format, columns) of the file of one's own
_COLUMN = "column-"  # prefix of the session_state keys of the column choices; followed by task and field


@dataclass(frozen=True)
class ChosenData:
    """Training and dev data. key: name of the shipped set, or OWN · name: used in the titles of runs."""

    key: str
    name: str
    task: Task
    train: TaskData
    dev: TaskData
    language: str

    @property
    def view(self) -> TaskView:
        return VIEWS[self.task.name]


def shipped_sets() -> dict[str, DataSet]:
    """Folder name in lessons/data → set, in the order of the tasks."""
    return {name: one for view in VIEWS.values() for name, one in view.sets().items()}


# --- choosing ---------------------------------------------------------------------------------------------------------


def task_choice() -> str:
    """Choice of a task, stored in the link as `task` → its name."""
    names = {name: view.title() for name, view in VIEWS.items()}
    guessed = st.session_state.pop("task-guess", None)
    if guessed in names:
        st.session_state[_TASK] = guessed
    elif follow_link(_TASK) or st.session_state.get(_TASK) not in names:
        st.session_state[_TASK] = url_choice(_TASK, list(names), next(iter(names)))
    chosen = st.pills(
        _("Task"), list(names), format_func=names.get, key=_TASK, required=True, label_visibility="collapsed"
    )
    set_url(_TASK, chosen, default=next(iter(names)))
    return chosen


def choose_data(task: str, refusals: DeltaGenerator | None = None) -> ChosenData | None:
    """The chosen data set, stored in the link as `data`; None, with the reason on the page, if not usable. refusals:
    where reasons, warnings and remarks stand if not here."""
    sets, language = VIEWS[task].sets(), first_language()
    names = {name: one.title for name, one in sets.items()}
    read = (name for name, one in sets.items() if language != DEFAULT and one.language == language)
    key = choice("data", _("Data"), {**names, OWN: _("A file of your own")}, wrap=True, default=next(read, FIRST))
    return own_files(task, refusals) if key == OWN else shipped(key)


@st.cache_resource(show_spinner=False, max_entries=40)
def shipped(name: str) -> ChosenData:
    """A set of lessons/data. Shared by all sessions: never modify it."""
    one = shipped_sets()[name]
    train, dev = (read_shipped(one.task, f"{name}/{part}{one.ending}") for part in ("train", "dev"))
    return ChosenData(name, name, TASKS[one.task], train, dev, one.language)


def read_shipped(task: str, file: str) -> TaskData:
    """A file of lessons/data, named as the commands name it."""
    return replace(TASKS[task].read(LESSONS / "data" / file), name=f"lessons/data/{file}")


def own_files(task: str, refusals: DeltaGenerator | None = None) -> ChosenData | None:
    """Data from uploads: a training file, optionally a dev file, and their companion files (labels, answers)."""
    refusals = refusals or st.container()
    st.markdown(VIEWS[task].expected())
    files = sticky_uploader(_KEPT, "file", _("Your file, and its `labels.txt` or `.ans` if it has one"), endings())
    words = _("A file to measure on (without it, one example in five is set aside)")
    measured = sticky_uploader(_KEPT, "dev-file", words, endings())
    if not files:
        st.session_state.pop(_READ, None)
        st.session_state.pop(_SEEN, None)
        return None
    try:
        file, beside = main_file(files, refusals)
        if st.session_state.get(_SEEN) != file.file_id:
            recognize(file, task)
        chosen = choose_format(file, task)
        columns = choose_columns(file, task) if chosen == "header" else {}
        if columns is None:
            refusals.info(_("Choose where each part of an example stands in the file."))
            return None
        st.session_state[_READ_AS] = task, chosen, columns
        uploads = *(one.file_id for one in files), None, *(one.file_id for one in measured)
        key = (task, chosen, *columns.items(), *uploads)
        if st.session_state.get(_READ, (None,))[0] != key:  # reading a large file takes seconds
            train, whole = _read(task, chosen, columns, MOST_TRAINING + MOST_DEV, file, beside)
            dev, dev_whole = None, 0
            if measured:
                names = {name: content for name, content in beside.items() if name in companions()}  # for both files
                other, beside = main_file(measured, refusals, names)
                dev, dev_whole = _read(task, chosen, columns, MOST_DEV, other, beside)
            st.session_state[_READ] = key, train, dev, whole, dev_whole
        data = usable(task, *st.session_state[_READ][1:], remarks=refusals)
        warn_of_both(data, refusals)
        return data
    except (TaskDataError, ValueError) as error:
        refusals.error(literal(translated(error)), icon=":material/error:")
    except SandboxError as error:
        refusals.error(
            _("This file takes {much} to read: give a part of it.").format(much=literal(translated(error))),
            icon=":material/hard_drive:",
        )
    return None


def own_test_file(task: str, refusals: DeltaGenerator) -> TaskData | None:
    """Examples from an upload that no run has seen, read as one's own training file is, or in the format it looks like;
    None without one, or with the reason in `refusals`."""
    files = sticky_uploader(_KEPT, "test-file", _("A file that no run has learned from or was chosen by"), endings())
    if not files:
        return None
    try:
        file, beside = main_file(files, refusals)
        of, chosen, columns = st.session_state.get(_READ_AS, ("", "", {}))
        if of != task:
            readers, guessed = [*TASKS[task].readers], guess_format(file.head(), file.name, task)
            chosen, columns = guessed if guessed in readers else readers[0], {}
        data, _whole = _read(task, chosen, columns, MOST_TEST, file, beside)
        return cut(TASKS[task], data, MOST_TEST)
    except (TaskDataError, ValueError, SandboxError) as error:
        refusals.error(literal(translated(error)), icon=":material/error:")
        return None


def _read(task: str, chosen: str, columns: dict, most: int, file, beside: dict[str, bytes]) -> tuple[TaskData, int]:
    """(examples, number of examples in the file). A file larger than READ_HERE is read in a separate process, which
    returns an even sample of at most `most` examples."""
    if file.size <= READ_HERE or file.path is None:
        data = TASKS[task].parse(file.getvalue(), file.name, format=chosen, columns=columns, beside=beside)
        return data, len(data.examples)
    with st.spinner(_("Reading {name} …").format(name=literal(file.name))):
        return run_sandboxed(
            "minibert.tasks:read_sample", file.path, file.name, task, chosen, most=most, columns=columns, beside=beside
        )


def recognize(file, task: str) -> None:
    """For a new file: switch the page, once, to the task guessed from its content; the user can switch back."""
    st.session_state[_SEEN] = file.file_id
    for name in ["format", *(key for key in st.session_state if str(key).startswith(_COLUMN))]:
        st.session_state.pop(name, None)
    guessed = guess_task(file.head(), file.name)
    if guessed != task:
        st.session_state["task-guess"] = guessed
        st.rerun()


def choose_format(file, task: str) -> str:
    """A select box for the file's format, initially the guessed one."""
    view, readers = VIEWS[task], list(TASKS[task].readers)
    titles = view.formats()
    if st.session_state.get("format") not in readers:
        guessed = guess_format(file.head(), file.name, task)
        st.session_state["format"] = guessed if guessed in readers else readers[0]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = st.selectbox(_("Format"), readers, format_func=lambda name: titles[name], key="format", width=320)
        st.markdown(
            _("Read as **{task}**. If that is not what the file is, choose another task or format.").format(
                task=view.title()
            )
        )
    return chosen


def choose_columns(file, task: str) -> dict[str, str | int] | None:
    """Field → its column: the name, or the number from 1 if the file has no header. Columns with known names are
    preselected. None until all fields have a column; {} if there are too few columns."""
    required, words = TASKS[task].columns, VIEWS[task].columns()
    _line, first = next(table(file.head()[:FIRST_LINE].decode("utf-8-sig", "replace"), file.name))
    if len(first) < len(required):
        return {}  # not a suitable table: reading it reports the error
    header = header_of(first)
    known = {what: column(header, names) for what, names in required.items()}
    rows: list[list[str]] = []
    with suppress(TaskDataError):  # the beginning of a large file may end inside a quoted cell
        beginning = table(file.head().decode("utf-8-sig", "replace"), file.name)
        rows.extend(cells for _line, cells in islice(beginning, LOOKED_AT))
    is_header = set(known.values()) != {None} or all(map(COLUMN_NAME.fullmatch, header)) or names_its_columns(rows)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.session_state.setdefault(f"{_COLUMN}{task}-named", is_header)
        named = st.toggle(_("The first line names the columns"), key=f"{_COLUMN}{task}-named")
        titles: dict[str | int, str] = {}
        for i, cell in enumerate(first):
            if not named:
                titles[i + 1] = f"{i + 1}: {shorten(cell, MOST_TITLE)}"
            elif header[i] and header.index(header[i]) == i:  # of duplicate names, reading uses the first
                titles[cell] = shorten(cell, MOST_TITLE)
        chosen = {}
        for what, place in known.items():
            key = f"{_COLUMN}{task}-{'name' if named else 'number'}-{what}"
            if st.session_state.get(key) not in titles:
                st.session_state[key] = first[place] if place is not None and first[place] in titles else None
            chosen[what] = st.selectbox(
                words[what], list(titles), format_func=titles.get, key=key, placeholder=_("Choose a column"), width=220
            )
    return None if None in chosen.values() else chosen


def main_file(files: Sequence[Any], remarks=st, beside: dict[str, bytes] | None = None):
    """(file with the examples, companion name → content). Of several files the last one is used, as users upload a
    corrected file again; `remarks`, a place on the page, says so. ValueError if there is none."""
    extra = [file for file in files if is_beside(file.name)]
    main = [file for file in files if not is_beside(file.name)]
    if not main:
        raise ValueError(_("There are only labels or answers: the file with the examples is missing."))
    if len({file.name for file in main}) > 1:
        remarks.info(_("Of {n} files, the last one is read: {name}").format(n=len(main), name=literal(main[-1].name)))
    return main[-1], {**(beside or {}), **{Path(file.name).name: file.getvalue() for file in extra}}


def endings() -> list[str]:
    """File name endings that can be uploaded, for any task."""
    beside = {Path(pattern).suffix.removeprefix(".") for pattern in companions()}
    return sorted({ending for task in TASKS.values() for ending in task.endings} | beside)


def companions() -> list[str]:
    """Name patterns of companion files, for any task; * stands for the name of the main file."""
    return [pattern for task in TASKS.values() for pattern in task.companions]


def is_beside(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in companions())


def usable(
    task: str, train: TaskData, dev: TaskData | None, whole: int = 0, dev_whole: int = 0, remarks=st
) -> ChosenData:
    """The data limited in size and split into training and dev; ValueError if they are not usable. whole, dev_whole:
    number of examples in the files, if the data are only a sample · remarks: where the page says what is left out."""
    from minibert.finetune.split import split_dev

    TASKS[task].check(train)
    name = Path(train.name).stem[:40]
    if len(train.labels) > MOST_LABELS:
        raise ValueError(
            _("{file} has {n:,} different labels; at most {most} are possible here. Is it the right column?").format(
                file=train.name, n=len(train.labels), most=MOST_LABELS
            )
        )
    if all(map(TASKS[task].unanswered, train.examples)):
        raise ValueError(_("No example says what its answer is: is a file beside it missing?"))
    sampled = whole > len(train.examples)
    if dev is None:
        train, dev = split_dev(train)
    for data, most, n in ((train, MOST_TRAINING, whole if sampled else 0), (dev, MOST_DEV, dev_whole)):
        if max(len(data.examples), n) > most:
            words = _("Of {n:,} examples {most:,} are used, taken evenly from the whole file.")
            remarks.info(words.format(n=max(len(data.examples), n), most=min(most, len(data.examples))))
    train = train.take(even_sample(train, range(len(train.examples)), MOST_TRAINING))
    dev = cut(TASKS[task], dev, MOST_DEV)
    shown = set(train.labels)
    missing = [label for label in dev.labels if label not in shown]
    if missing and TASKS[task].closed:
        raise ValueError(_("The examples to learn from never show: {labels}").format(labels=_(", ").join(missing)))
    return ChosenData(OWN, name, TASKS[task], train, dev, language_of(VIEWS[task], train))


def in_both(task: Task, train: TaskData, dev: TaskData) -> int:
    """How many dev examples have inputs that an example in training has, too."""
    left_out = {task.answer, "id", "extra", "entities"}
    names = [field.name for field in fields(task.example_type) if field.name not in left_out]
    learned = {tuple(getattr(example, name) for name in names) for example in train.examples}
    return sum(tuple(getattr(example, name) for name in names) in learned for example in dev.examples)


def warn_of_both(data: ChosenData, place: DeltaGenerator) -> None:
    if count := in_both(data.task, data.train, data.dev):
        words = _(
            "{n} of {all} examples to measure on stand among those to learn from, too: what is measured is partly "
            "memory."
        )
        place.warning(words.format(n=count, all=len(data.dev.examples)), icon=":material/content_copy:")


def cut(task: Task, data: TaskData, most: int) -> TaskData:
    """An even sample of at most `most` examples that have ground truth; ValueError if none has."""
    known = [i for i, example in enumerate(data.examples) if not task.unanswered(example)]
    if not known:
        raise ValueError(_("{file} has no example that says its answer.").format(file=data.name))
    return data.take(even_sample(data, known, most))


def language_of(view: TaskView, data: TaskData) -> str:
    """ "zh" if over a fifth of the characters are Chinese, else "en"; used to choose the checkpoint."""
    text = "".join(view.in_a_line(example) for example in data.examples[:50])
    return "zh" if 5 * sum(map(is_cjk, text)) > len(text) else "en"


# --- showing ----------------------------------------------------------------------------------------------------------


def cells(view: TaskView, example: Any) -> dict[str, str]:
    """An example as a table row: its fields, then the file's other columns."""
    row = {}
    for field in fields(example):
        value = getattr(example, field.name)
        if field.name in ("extra", "offsets", "id") or value is None:
            continue
        words = " · ".join(map(view.in_words, value)) if isinstance(value, tuple) else str(value)
        row[field.name] = visible(words, spaces=False)
    row |= {name: visible(str(value), spaces=False) for name, value in example.extra.items() if name not in row}
    return {name: text if len(text) <= SHORT else text[: SHORT - 1] + "…" for name, text in row.items()}


def show_data(chosen: ChosenData) -> None:
    """Numbers of examples, problems in the files, the first examples, and label frequencies."""
    train, dev = chosen.train, chosen.dev
    counts = _("**{train:,} examples to learn from, {dev:,} to measure on**").format(
        train=len(train.examples), dev=len(dev.examples)
    )
    known = chosen.view.sets().get(chosen.key)
    st.markdown(_("{counts} – {note}.").format(counts=counts, note=known.note) if known else counts + _("."))
    show_problems([train, dev])
    with st.expander(_("Look at the data"), icon=":material/table_rows:"):
        st.dataframe([cells(chosen.view, example) for example in train.examples[:PREVIEW]], hide_index=True)
        show_labels(train, dev)


def show_labels(train: TaskData, dev: TaskData) -> None:
    """Table of label counts in training and dev data, and the class imbalance."""
    imbalance = train.imbalance
    if imbalance is None:
        return
    of_dev = dev.counts
    st.dataframe(
        [
            {_("label"): visible(label, spaces=False), _("to learn from"): count, _("to measure on"): of_dev[label]}
            for label, count in imbalance.counts.items()
        ],
        hide_index=True,
        column_config={
            _("to learn from"): st.column_config.ProgressColumn(
                format="%d", min_value=0, max_value=max(1, *imbalance.counts.values())
            )
        },
    )
    st.markdown(
        _("The commonest label makes up {share:.0%} and occurs {ratio:.1f} times as often as the rarest.").format(
            share=imbalance.majority, ratio=imbalance.ratio
        )
    )
    if imbalance.missing:
        st.warning(_("No example has the label: {labels}").format(labels=literal(_(", ").join(imbalance.missing))))


def show_problems(parts: Sequence[TaskData]) -> None:
    """Table of the places in the files that could not be used, each with the reason."""
    found = {id(problem): (data.name, problem) for data in parts for problem in data.problems}
    if not found:
        return
    title = ngettext(
        "{n} place in the file is not as it should be", "{n} places in the file are not as they should be", len(found)
    ).format(n=len(found))
    with st.expander(title, icon=":material/warning:"):
        several = len({name for name, _problem in found.values()}) > 1
        st.dataframe(
            [
                {
                    **({_("file"): name} if several else {}),
                    _("line"): problem.line,
                    _("column"): None if problem.column is None else str(problem.column),
                    _("why"): visible(translated(problem.why), spaces=False),
                }
                for name, problem in list(found.values())[:PROBLEMS]
            ],
            hide_index=True,
        )
