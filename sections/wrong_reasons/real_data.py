"""Cues in real data: words correlated with one label, counted in the course's data or the user's file."""

import streamlit as st

from sections.wrong_reasons.subject import finished, sets_of, training_names
from ui.classifiers import predictor_of, shared_run
from ui.errors import translated
from ui.inputs import choice
from ui.lesson import LESSONS, Lesson
from ui.text import literal
from ui.translations import _
from ui.uploads import uploader

CUE_ROWS = 8
LARGEST_FILE_READ = 20_000  # most examples counted of a file


@st.fragment
def show(lesson: Lesson, cue: str) -> None:
    from minibert.inside.predictions.spurious_cues import cue_words

    lesson.show("Cues in real data", title=False)
    sources = {
        "reviews": _("the course’s reviews"),
        "pairs": _("the course’s pairs"),
        "choices": _("the course’s choices"),
        "planted": _("the planted set"),
        "own": _("a file of your own"),
    }
    source = choice("source", _("Data"), sources, wrap=True)
    data = own_file() if source == "own" else course_data(source)
    if data is None:
        return
    if len(data.examples) > LARGEST_FILE_READ:
        data = data.take([i * len(data.examples) // LARGEST_FILE_READ for i in range(LARGEST_FILE_READ)])
    results = cue_words(data, least=max(10, len(data.examples) // 100))[:CUE_ROWS]
    chance = f"{1 / results[0].choices:.0%}" if results else "–"
    st.markdown(_("{n:,} examples, chance {chance}. The strongest words:").format(n=len(data.examples), chance=chance))
    if not results:
        st.info(_("No word occurs in enough examples."))
        return
    rows = [
        {
            _("word"): literal(cue.word),
            _("speaks for"): literal(cue.answer) if cue.answer is not None else _("the choice that has it"),
            _("coverage"): f"{cue.coverage:.1%}",
            _("productivity"): f"{cue.productivity:.1%}",
        }
        for cue in results
    ]
    st.table(rows)
    st.caption(_("Of hundreds of words the strongest always look like something; with few examples chance does that."))
    if any("heuristic" in example.extra for example in data.examples[:1]):
        hans(data)


@st.cache_resource(show_spinner=False, max_entries=4)
def course_data(source: str):
    from minibert.tasks import TASKS

    if source == "planted":
        return sets_of("not")[1]["planted"]
    task, name = {"reviews": ("classification", "train.tsv"), "pairs": ("pair", "train.tsv")}.get(
        source, ("choice", "train.csv")
    )
    return TASKS[task].read(LESSONS / "data" / source / name)


def own_file():
    """A file of classes, pairs or choices; None while there is no usable one."""
    from minibert.tasks import TASKS, TaskDataError, guess_task

    st.markdown(
        _(
            "ARCT (`train.csv` with `warrant0`, `warrant1` …), HANS (`heuristics_evaluation_set.txt`), any GLUE pair "
            "file, or a TSV or CSV with a text and a label column."
        )
    )
    file = uploader(_("Your file"), ["tsv", "csv", "txt"], "file")
    if file is None:
        return None
    try:
        content = file.getvalue()
        task = guess_task(content, file.name)
        if task not in ("classification", "pair", "choice"):
            raise TaskDataError(
                _("{name} looks like data for “{task}”; this part reads classes, pairs and choices").format(
                    name=file.name, task=task
                )
            )
        return TASKS[task].parse(content, file.name)
    except (TaskDataError, ValueError) as error:
        st.error(literal(translated(error)), icon=":material/error:")
        return None


def hans(data) -> None:
    """Accuracy per heuristic of the models trained above, and of the class's model of pairs."""
    from minibert.inside.predictions.spurious_cues import by_heuristic

    runs = {training_names()[training]: run for training, run in finished("overlap").items()}
    if pairs := shared_run("pairs"):
        runs[pairs.title] = pairs
    if not runs:
        st.info(_("Train on *words in common* above, and its models are measured on each heuristic here."))
        return
    rows = []
    with st.spinner(_("Answering …")):
        for name, run in runs.items():
            for row in by_heuristic(predictor_of(run), data):
                rows.append(
                    {
                        _("model"): literal(name),
                        _("heuristic"): literal(row["heuristic"]),
                        _("label"): literal(row["label"]),
                        _("pairs"): row["n"],
                        _("accuracy"): f"{row['accuracy']:.0%}",
                    }
                )
    st.table(rows)
