"""Labelled data for fine-tuning: the sets that ship with the course, or files of the reader's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from minibert.tasks import TASKS, Task, TaskData, TaskDataError, guess_format, guess_task
from minibert.tasks.data import unanswered
from minibert.tasks.tables import COLUMN_NAME, column, header_of, table
from minibert.text.characters import is_cjk
from ui.inputs import choice
from ui.lesson import LESSONS
from ui.state import follow_link, set_url, url_choice
from ui.text import literal, shorten, visible
from ui.translations import _, ngettext

OWN = "own"
MOST_TRAINING, MOST_DEV = 20_000, 5_000  # examples: a lesson is not the place for more
MOST_TITLE = 24  # characters of a cell that stands for its column
MOST_LABELS = 200  # more are a column taken for another
PREVIEW, PROBLEMS = 5, 1_000  # rows
SHORT = 300  # characters of a text in the preview
FIRST_LINE = 100_000  # bytes in which a table's first line ends
LABEL_NAMES = "labels.txt"  # GoEmotions' numbers, named
ENDINGS = ["tsv", "csv", "txt", "conll", "iob", "bio", "json", "md", "ans"]
# session_state keys: the task of the page, the file whose task has been guessed, the files as they were last read
_TASK, _SEEN, _READ = "task", "file-seen", "files-read"
_COLUMN = "column-"  # and the task and the field: where it stands in the file


@dataclass(frozen=True)
class Shipped:
    """A set of lessons/data: its task, the ending of its files, and the language of its texts."""

    task: str
    ending: str
    language: str = "en"


SHIPPED = {
    "reviews": Shipped("classification", ".tsv"),
    "reviews-zh": Shipped("classification", ".tsv", "zh"),
    "pairs": Shipped("pair", ".tsv"),
    "similarity": Shipped("similarity", ".tsv"),
    "emotions": Shipped("multilabel", ".tsv"),
    "entities": Shipped("tagging", ".txt"),
    "entities-zh": Shipped("tagging", ".txt", "zh"),
    "questions": Shipped("span", ".json"),
    "questions-zh": Shipped("span", ".json", "zh"),
    "questions-or-none": Shipped("span-or-none", ".json"),
    "choices": Shipped("choice", ".csv"),
    "stories": Shipped("choice", ".tsv"),
    "intents": Shipped("intent", ".md"),
    "intents-zh": Shipped("intent", ".md", "zh"),
}


@dataclass(frozen=True)
class ChosenData:
    """What a run learns from and is measured on. key: the set's name, or OWN · name: what runs are called after it."""

    key: str
    name: str
    task: Task
    train: TaskData
    dev: TaskData
    language: str


def task_titles() -> dict[str, str]:
    """The tasks in teaching order, in words."""
    return {
        "classification": _("A class"),
        "pair": _("Two texts"),
        "similarity": _("Similarity"),
        "multilabel": _("Several labels"),
        "tagging": _("A tag a word"),
        "span": _("An answer in the text"),
        "span-or-none": _("… or no answer"),
        "choice": _("Multiple choice"),
        "intent": _("Intent and entities"),
    }


def set_titles() -> dict[str, str]:
    return {
        "reviews": _("Reviews"),
        "reviews-zh": _("Reviews, Chinese"),
        "pairs": _("Does it follow?"),
        "similarity": _("How alike?"),
        "emotions": _("Emotions"),
        "entities": _("Names"),
        "entities-zh": _("Names, Chinese"),
        "questions": _("Questions"),
        "questions-zh": _("Questions, Chinese"),
        "questions-or-none": _("Questions or none"),
        "choices": _("What happens next?"),
        "stories": _("Stories"),
        "intents": _("Requests"),
        "intents-zh": _("Requests, Chinese"),
    }


def set_notes() -> dict[str, str]:
    """What a learner should know of each set before training on it."""
    reviews = _("half positive, half negative; marked by kind: plain, negation, contrast, irony")
    requests = _("eight intents, nine kinds of entity")
    return {
        "reviews": reviews,
        "reviews-zh": reviews,
        "pairs": _("three hypotheses for each premise, one of each label"),
        "similarity": _("scores from 0, nothing shared, to 5, the same"),
        "emotions": _("eight labels; a third of the messages have more than one"),
        "entities": _("four kinds of name, many of which are also ordinary words"),
        "entities-zh": _("tagged character by character; nearly every name of the dev set is new"),
        "questions": _("six questions a passage; the dev set has passages of its own"),
        "questions-zh": _("five questions a passage; the dev set has passages of its own"),
        "questions-or-none": _("every third question has no answer in its passage"),
        "choices": _("one ending out of four makes sense"),
        "stories": _("four questions a story, four options each"),
        "intents": requests,
        "intents-zh": requests,
    }


def format_titles() -> dict[str, str]:
    return {
        "header": _("columns named in a header"),
        "label-first": _("label, then text"),
        "label-last": _("text, then label"),
        "score-last": _("two texts, then a score"),
        "cola": "CoLA",
        "stsb-test": _("STS-B, without a header"),
        "goemotions": "GoEmotions",
        "columns": _("CoNLL columns"),
        "squad": "SQuAD 1.1",
        "squad2": "SQuAD 2.0",
        "swag": "SWAG",
        "mctest": "MCTest",
        "arct": "ARCT",
        "rasa": _("Rasa markdown"),
    }


def column_titles() -> dict[str, str]:
    return {
        "text": _("text"),
        "first text": _("first text"),
        "second text": _("second text"),
        "label": _("label"),
        "labels": _("labels, with commas between"),
        "score": _("score"),
    }


def expected() -> dict[str, str]:
    """What a file for each task looks like, in a sentence."""
    label = _(
        "TSV or CSV with a header that names `sentence` or `text`, and `label`; or lines of label and text with a tab."
    )
    squad = _("JSON as SQuAD has it: `data` → `paragraphs` → `context`, and `qas` with `question` and `answers`")
    return {
        "classification": label,
        "pair": _(
            "TSV or CSV with a header that names two texts and a `label`, such as GLUE’s `sentence1`, `sentence2`."
        ),
        "similarity": _(
            "TSV with a header that names `sentence1`, `sentence2` and a `score` from 0 to 5, as STS-B has it."
        ),
        "multilabel": _(
            "A header that names `text` and `labels`, labels with commas between; or GoEmotions with its `labels.txt`."
        ),
        "tagging": _("CoNLL columns: a word a line, its tag (`B-PER`, `O` …) last, a blank line between sentences."),
        "span": squad + ".",
        "span-or-none": squad + _(", and `is_impossible`."),
        "choice": _("CSV as SWAG has it (`sent1`, `sent2`, `ending0` …, `label`), or MCTest’s `.tsv` with its `.ans`."),
        "intent": _("Rasa’s markdown: `## intent:name`, then `- words [entity](kind) words`."),
    }


# --- choosing ---------------------------------------------------------------------------------------------------------


def task_choice() -> str:
    """One of the tasks, in the link as `task`."""
    names = task_titles()
    guessed = st.session_state.pop("task-guess", None)
    if guessed in names:
        st.session_state[_TASK] = guessed
    elif follow_link(_TASK) or st.session_state.get(_TASK) not in names:
        st.session_state[_TASK] = url_choice(_TASK, list(names), next(iter(names)))
    chosen = st.pills(_("Task"), list(names), format_func=names.get, key=_TASK, required=True)
    set_url(_TASK, chosen, default=next(iter(names)))
    return chosen


def choose_data(task: str) -> ChosenData | None:
    """The set to learn from, in the link as `data`; None, and on the page the reason, while there is nothing usable."""
    titles = set_titles()
    names = {name: titles[name] for name, one in SHIPPED.items() if one.task == task}
    key = choice("data", _("Data"), {**names, OWN: _("A file of your own")})
    return own_files(task) if key == OWN else shipped(key)


@st.cache_resource(show_spinner=False, max_entries=len(SHIPPED))
def shipped(name: str) -> ChosenData:
    """A set of lessons/data. Shared by everyone on the server: never changed."""
    one = SHIPPED[name]
    task = TASKS[one.task]
    train, dev = (task.read(LESSONS / "data" / name / f"{part}{one.ending}") for part in ("train", "dev"))
    return ChosenData(name, name, task, train, dev, one.language)


def own_files(task: str) -> ChosenData | None:
    """Uploads: one file to learn from, perhaps one to be measured on, each with what lies beside it."""
    st.markdown(expected()[task])
    first, second = st.columns(2, gap="large")
    with first:
        files = st.file_uploader(
            _("Your file, and its `labels.txt` or `.ans` if it has one"),
            ENDINGS,
            accept_multiple_files=True,
            key="file",
        )
    with second:
        measured = st.file_uploader(
            _("A file to measure on (without it, one example in five is set aside)"),
            ENDINGS, accept_multiple_files=True, key="dev-file",
        )  # fmt: skip
    if not files:
        st.session_state.pop(_READ, None)
        return None
    try:
        file, beside = main_file(files)
        if st.session_state.get(_SEEN) != file.file_id:
            recognize(file, task)
        chosen = choose_format(file, task)
        columns = choose_columns(file, task) if chosen == "header" else {}
        if columns is None:
            st.info(_("Choose where each part of an example stands in the file."))
            return None
        uploads = *(one.file_id for one in files), None, *(one.file_id for one in measured)
        key = (task, chosen, *columns.items(), *uploads)
        if st.session_state.get(_READ, (None,))[0] != key:  # a large file takes seconds
            read = partial(TASKS[task].parse, format=chosen, columns=columns)
            train, dev = read(file.getvalue(), file.name, beside=beside), None
            if measured:
                names = {name: content for name, content in beside.items() if name == LABEL_NAMES}  # hold for both
                other, beside = main_file(measured, names)
                dev = read(other.getvalue(), other.name, beside=beside)
            st.session_state[_READ] = key, train, dev
        return usable(task, *st.session_state[_READ][1:])
    except (TaskDataError, ValueError) as error:
        st.error(literal(error), icon=":material/error:")
        return None


def recognize(file, task: str) -> None:
    """A new file: the page turns to the task that its form suggests, once; the reader may turn back."""
    st.session_state[_SEEN] = file.file_id
    for name in ["format", *(key for key in st.session_state if str(key).startswith(_COLUMN))]:
        st.session_state.pop(name, None)
    guessed = guess_task(file.getvalue(), file.name)
    if guessed != task:
        st.session_state["task-guess"] = guessed
        st.rerun()


def choose_format(file, task: str) -> str:
    """The format that the file seems to be in, or the one the reader says it is in."""
    readers, titles = list(TASKS[task].readers), format_titles()
    if st.session_state.get("format") not in readers:
        guessed = guess_format(file.getvalue(), file.name, task)
        st.session_state["format"] = guessed if guessed in readers else readers[0]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = st.selectbox(_("Format"), readers, format_func=lambda name: titles[name], key="format", width=320)
        st.markdown(
            _("Read as **{task}**. If that is not what the file is, choose another task or format.").format(
                task=task_titles()[task]
            )
        )
    return chosen


def choose_columns(file, task: str) -> dict[str, str | int] | None:
    """Field → its column's name, or its number where the file has no header; guessed where a name is known. None until
    all are chosen."""
    wanted = TASKS[task].columns
    _line, first = next(table(file.getvalue()[:FIRST_LINE].decode("utf-8-sig", "replace"), file.name))
    if len(first) < len(wanted):
        return {}  # not such a table: reading it says what is wrong
    header = header_of(first)
    known = {what: column(header, names) for what, names in wanted.items()}
    is_header = set(known.values()) != {None} or all(map(COLUMN_NAME.fullmatch, header))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        named = st.toggle(_("The first line names the columns"), value=is_header, key=f"{_COLUMN}{task}-named")
        titles: dict[str | int, str] = {}
        for i, cell in enumerate(first):
            if not named:
                titles[i + 1] = f"{i + 1}: {shorten(cell, MOST_TITLE)}"
            elif header[i] and header.index(header[i]) == i:  # of one name twice, reading takes the first
                titles[cell] = shorten(cell, MOST_TITLE)
        chosen = {}
        for what, place in known.items():
            key = f"{_COLUMN}{task}-{'name' if named else 'number'}-{what}"
            if st.session_state.get(key) not in titles:
                st.session_state[key] = first[place] if place is not None and first[place] in titles else None
            chosen[what] = st.selectbox(
                column_titles()[what],
                list(titles),
                format_func=titles.get,
                key=key,
                placeholder=_("Choose a column"),
                width=220,
            )
    return None if None in chosen.values() else chosen


def main_file(files: Sequence[Any], beside: dict[str, bytes] | None = None):
    """(the file with the examples, name → content of those beside it) of an upload. ValueError unless it is one."""
    extra = [file for file in files if is_beside(file.name)]
    main = [file for file in files if not is_beside(file.name)]
    if len(main) != 1:
        names = ", ".join(file.name for file in main)
        raise ValueError(
            _("Give one file with examples at a time, not {n}: {names}").format(n=len(main), names=names)
            if main
            else _("There are only labels or answers: the file with the examples is missing.")
        )
    return main[0], {**(beside or {}), **{Path(file.name).name: file.getvalue() for file in extra}}


def is_beside(name: str) -> bool:
    return name == LABEL_NAMES or name.endswith(".ans")


def usable(task: str, train: TaskData, dev: TaskData | None) -> ChosenData:
    """The data cut to size and divided; ValueError where nothing can be learned or measured."""
    from minibert.finetune.split import split_dev

    TASKS[task].check(train)
    name = Path(train.name).stem[:40]
    if len(train.labels) > MOST_LABELS:
        raise ValueError(
            _(
                "{file} has {n:,} different labels; at most {most} can be told apart here. Is it the right column?"
            ).format(file=train.name, n=len(train.labels), most=MOST_LABELS)
        )
    if all(map(unanswered, train.examples)):
        raise ValueError(_("No example says what its answer is: is a file beside it missing?"))
    if not train.labels and task in ("multilabel", "tagging"):
        raise ValueError(_("{file} has no label on any example: there is nothing to learn.").format(file=train.name))
    if dev is None:
        train, dev = split_dev(train)
    for data, most in ((train, MOST_TRAINING), (dev, MOST_DEV)):
        if len(data.examples) > most:
            words = _("Of {n:,} examples {most:,} are used, taken evenly from the whole file.")
            st.info(words.format(n=len(data.examples), most=most))
    train, dev = train.take(even_sample(train, range(len(train.examples)), MOST_TRAINING)), cut(dev, MOST_DEV)
    shown = set(train.labels)
    missing = [label for label in dev.labels if label not in shown]
    if missing and TASKS[task].closed:
        raise ValueError(_("The examples to learn from never show: {labels}").format(labels=", ".join(missing)))
    return ChosenData(OWN, name, TASKS[task], train, dev, language_of(train))


def cut(data: TaskData, most: int) -> TaskData:
    """At most `most` examples, and only those that say their answer: others cannot be measured on."""
    known = [i for i, example in enumerate(data.examples) if not unanswered(example)]
    if not known:
        raise ValueError(_("{file} has no example that says its answer.").format(file=data.name))
    return data.take(even_sample(data, known, most))


def even_sample(data: TaskData, indices: Sequence[int], most: int) -> list[int]:
    """At most `most` of the indices, evenly spread; every label keeps its first example, however rare it is."""
    from minibert.finetune.split import spread

    if len(indices) <= most:
        return list(indices)
    first: dict[str, int] = {}
    for i in indices:
        for mark in data.examples[i].marks:
            first.setdefault(mark, i)
    kept = set(sorted(first.values())[:most])
    others = [i for i in indices if i not in kept]
    return sorted(kept | {others[j] for j in spread(len(others), most - len(kept))})


def language_of(data: TaskData) -> str:
    """`zh` where a good part of the characters are Chinese, else `en`: which checkpoint to begin with."""
    text = "".join(in_a_line(example) for example in data.examples[:50])
    return "zh" if 5 * sum(map(is_cjk, text)) > len(text) else "en"


# --- showing ----------------------------------------------------------------------------------------------------------


def cells(example: Any) -> dict[str, str]:
    """An example as a row of a table: its fields, then the file's other columns."""
    row = {}
    for field in fields(example):
        value = getattr(example, field.name)
        if field.name in ("extra", "offsets", "id") or value is None:
            continue
        parts = value if isinstance(value, tuple) else (value,)
        row[field.name] = visible(" · ".join(map(in_words, parts)), spaces=False)
    row |= {name: visible(str(value), spaces=False) for name, value in example.extra.items() if name not in row}
    return {name: text if len(text) <= SHORT else text[: SHORT - 1] + "…" for name, text in row.items()}


def in_a_line(example: Any) -> str:
    """What an example asks about, to choose it from a list."""
    if hasattr(example, "words") and not hasattr(example, "intent"):
        gap = "" if all(len(word) == 1 for word in example.words) else " "
        return gap.join(example.words)
    names = ("question",) if hasattr(example, "answers") else ("context", "question", "text", "pair")
    return " / ".join(text for name in names if (text := getattr(example, name, "")))


def in_words(value: Any) -> str:
    """A part of an example: an answer's text, an entity's kind and place, anything else as it is."""
    if hasattr(value, "type"):
        return f"{value.type} {value.start}–{value.end}"
    return str(getattr(value, "text", value))


def show_data(chosen: ChosenData) -> None:
    """How much there is, the first examples, how often each label occurs, and what is wrong with the files."""
    train, dev = chosen.train, chosen.dev
    counts = _("**{train:,} examples to learn from, {dev:,} to measure on**").format(
        train=len(train.examples), dev=len(dev.examples)
    )
    note = set_notes().get(chosen.key)
    st.markdown(f"{counts} – {note}." if note else f"{counts}.")
    show_problems([train, dev])
    with st.expander(_("Look at the data"), icon=":material/table_rows:"):
        st.dataframe([cells(example) for example in train.examples[:PREVIEW]], hide_index=True)
        show_labels(train, dev)


def show_labels(train: TaskData, dev: TaskData) -> None:
    """Each label with its count in both parts, and how uneven they are."""
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
        st.warning(_("No example has the label: {labels}").format(labels=literal(", ".join(imbalance.missing))))


def show_problems(parts: Sequence[TaskData]) -> None:
    """The lines that could not be used, each with its place and the reason."""
    found = {id(problem): (data.name, problem) for data in parts for problem in data.problems}
    if not found:
        return
    title = ngettext("{n} place in the file is not as it should be", "{n} places in the file are not as they should be",
                     len(found)).format(n=len(found))  # fmt: skip
    with st.expander(title, icon=":material/warning:"):
        several = len({name for name, _problem in found.values()}) > 1
        st.dataframe(
            [
                {
                    **({_("file"): name} if several else {}),
                    _("line"): problem.line,
                    _("column"): None if problem.column is None else str(problem.column),
                    _("why"): visible(problem.why, spaces=False),
                }
                for name, problem in list(found.values())[:PROBLEMS]
            ],
            hide_index=True,
        )
