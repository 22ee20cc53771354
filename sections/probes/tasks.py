"""The annotated sentences for the probes, ours or from a user's file."""

from typing import TYPE_CHECKING

import streamlit as st

from sections.probes.subject import kind_names, task_name
from ui.computations import fingerprint
from ui.errors import translated
from ui.inputs import choice
from ui.model_cache import load
from ui.samples import annotated, pronouns, requests, tagged
from ui.text import literal, visible
from ui.translations import _
from ui.uploads import uploader

if TYPE_CHECKING:
    from minibert.inside.probes.tasks import ProbeTask

STORIES = 200  # number of toy-world stories
SMALL_VOCABULARY = 1_000  # entries; a smaller vocabulary is the toy world's
LARGEST = 2**21  # most bytes of a file with columns
FEWEST_SENTENCES = 6  # a third of them is the test set


@st.cache_resource(show_spinner=False, max_entries=8)
def tasks_of(source: str, content: bytes = b"", name: str = "") -> "tuple[list[ProbeTask], str]":
    """The tasks of a source, and their fingerprint. Raises TaskDataError for an unusable file."""
    from minibert.inside.probes import tasks as probe_tasks
    from minibert.inside.probes.probe import ITEMS
    from minibert.toy.annotations import toy_probe_tasks
    from minibert.toy.world import stories

    if source == "toy":
        tasks = toy_probe_tasks(stories(STORIES, seed=0))
    elif source == "file":
        tasks = probe_tasks.column_tasks(probe_tasks.read_columns(content, name))
    else:
        if source == "zh":
            tasks = [*probe_tasks.name_tasks(annotated("zh")), probe_tasks.part_of_speech(tagged("zh"))]
        else:
            tasks = [*probe_tasks.conll_tasks(annotated(source)), probe_tasks.coreference(pronouns())]
        tasks.append(probe_tasks.topic(requests(source)))
    tasks = probe_tasks.usable(tasks, ITEMS)
    return tasks, fingerprint(tasks)


def choose_tasks(model: str) -> "tuple[list[ProbeTask], str] | None":
    """The user's choice of annotated sentences; None while there is nothing usable."""
    from minibert.tasks import TaskDataError
    from minibert.text.characters import mostly_cjk

    vocab = load(model).tokenizer.vocab
    fitting = "toy" if len(vocab) < SMALL_VOCABULARY else "zh" if mostly_cjk(vocab) else "en"
    names = {
        "en": _("our English sentences"),
        "zh": _("our Chinese sentences"),
        "toy": _("the toy world"),
        "file": _("a file of your own"),
    }
    order = sorted(names, key=lambda name: name != fitting)
    source = choice(f"sentences-{fitting}", _("Annotated sentences"), {name: names[name] for name in order})
    if source != "file":
        return tasks_of(source)
    st.markdown(
        _(
            "Columns as in CoNLL: a word and its labels a line, apart by spaces or tabs, a blank line after each "
            "sentence. Every column after the first becomes a task."
        )
    )
    file = uploader(_("Your file"), ["txt", "conll", "tsv"], "file")
    if file is None:
        return None
    try:
        if file.size > LARGEST:
            raise TaskDataError(_("The file has more than {n} MB.").format(n=LARGEST // 2**20))
        tasks, fingerprint_of_tasks = tasks_of("file", file.getvalue(), file.name)
        if not tasks:
            raise TaskDataError(_("No column has two labels that occur often enough to probe for."))
        if len(tasks[0].sentences) < FEWEST_SENTENCES:
            words = _("The file has fewer than {n} sentences: put a blank line after each.")
            raise TaskDataError(words.format(n=FEWEST_SENTENCES))
    except TaskDataError as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return None
    return tasks, fingerprint_of_tasks


def show_tasks(tasks: "list[ProbeTask]") -> None:
    """One line per task: its labelled unit, its labels, an example."""
    units = {"word": _("a word"), "pair": _("two words"), "sentence": _("a sentence")}
    rows = []
    for task in tasks:
        item = task.items[len(task.items) // 2]
        words = task.sentences[item.sentence]
        shown = " … ".join(words[place] for place in item.places) or " ".join(words)
        rows.append(
            {
                _("task"): task_name(task.name),
                _("kind"): kind_names()[task.kind],
                _("what has a label"): units[task.unit],
                _("labels"): len(task.labels),
                _("items"): len(task.items),
                _("example"): visible(f"{shown} → {item.label}", spaces=False),
            }
        )
    st.dataframe(rows, hide_index=True)
