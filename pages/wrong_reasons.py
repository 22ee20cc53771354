"""Does it understand? Models that are right for the wrong reasons: a planted cue, cues in real data, a checklist."""

import time
from pathlib import Path

import streamlit as st

from ui.attributed_text import show_attributed
from ui.classifiers import classifier_choice, dev_examples, in_chinese, predictor_of, shared_run, show_accuracy, task_of
from ui.figures import figure
from ui.inputs import choice, pick, sentence_input
from ui.lesson import LESSONS, REVIEWS, Lesson
from ui.models import CHECKPOINTS
from ui.navigation import next_lesson
from ui.runs import complete, live, own_runs, settled, show_refusal, state_rows, submit
from ui.source import show_source
from ui.text import literal, shorten, visible
from ui.translations import _, ngettext

KIND = "cues"
CHECKPOINT = "mini-en"
TRAIN_PAIRS, TEST_PAIRS = 600, 120  # of words in common; the asides stand in front of the course's reviews
EPOCHS, RATE = 2, 3e-4
SAME_CUE_TEXTS = 20  # texts that attribution is asked about
CUE_ROWS, FLIP_ROWS = 8, 12
MOST_LINES, MOST_CHARACTERS = 60, 6_000
LARGEST_FILE_READ = 20_000  # examples of a file that are counted

STYLE = """<style>
.stPlotlyChart [class$="tick"] text, .stPlotlyChart :is([class$="title"], .annotation-text, .textpoint text) {
  fill: currentColor !important; }
/* On a phone what stands side by side is scrolled, not squeezed. */
@media (max-width: 760px) {
  [class*="st-key-wide-"] { overflow-x: auto; }
  [class*="st-key-wide-"] .stElementContainer { min-width: 620px; }
}
</style>"""

lesson = Lesson("wrong_reasons")


def cue_names() -> dict[str, str]:
    return {"not": _("the word “not” (as in ARCT)"), "overlap": _("words in common (as in HANS)")}


def training_names() -> dict[str, str]:
    return {"planted": _("trained with the cue"), "balanced": _("trained with the cue balanced")}


def test_names() -> dict[str, str]:
    return {"planted": _("cue as planted"), "balanced": _("cue says nothing"), "flipped": _("cue flipped")}


# --- the planted cue --------------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=4)
def sets_of(cue: str) -> tuple[str, dict, object]:
    """(task, training condition → data, the three tests as one set): `minibert.tasks.TaskData`, never changed."""
    from minibert.inside.spurious_cues import CONDITIONS, overlap_pairs, together, with_aside
    from minibert.tasks import TASKS

    if cue == "not":
        train, dev = (TASKS["classification"].read(REVIEWS / f"{part}.tsv") for part in ("train", "dev"))
        trainings = {name: with_aside(train, name, seed=0) for name in ("planted", "balanced")}
        return "classification", trainings, together(*(with_aside(dev, name, seed=1) for name in CONDITIONS))
    trainings = {name: overlap_pairs(TRAIN_PAIRS, name, seed=0) for name in ("planted", "balanced")}
    return "pair", trainings, together(*(overlap_pairs(TEST_PAIRS, name, seed=1) for name in CONDITIONS))


def planted() -> None:
    lesson.show("Plant a cue")
    cue = choice("cue", _("The cue"), cue_names())
    task, trainings, tests = sets_of(cue)
    shown = choice("set", _("Set"), test_names())
    examples = [example for example in tests.examples if example.extra["condition"] == shown]
    few = [example for label in tests.labels for example in [e for e in examples if e.label == label][:2]]
    st.table(
        [
            {
                _("text"): literal(example.text),
                **({_("second text"): literal(example.pair)} if task == "pair" else {}),
                _("label"): example.label,
                _("cue"): _("yes") if example.extra["cue"] == "yes" else _("no"),
            }
            for example in few
        ]
    )
    share = {
        label: sum(e.extra["cue"] == "yes" for e in examples if e.label == label)
        / sum(e.label == label for e in examples)
        for label in tests.labels
    }
    st.markdown(
        _("With the cue: {shares}.").format(
            shares=", ".join(f"{literal(label)} **{part:.0%}**" for label, part in share.items())
        )
    )
    lesson.show("Train with the cue and without")
    controls(cue, task, trainings, tests)
    results(cue)


def controls(cue: str, task: str, trainings: dict, tests) -> None:
    checkpoint = CHECKPOINTS / CHECKPOINT
    if not complete(checkpoint):
        st.warning(_("There is no checkpoint to start from in `checkpoints/`."))
        return
    seeds = st.slider(_("Seeds"), 1, 3, 1, key="seeds", bind="query-params", width=320)
    label = ngettext("Train {n} model", "Train {n} models", 2 * seeds).format(n=2 * seeds)
    if st.button(label, type="primary", icon=":material/play_arrow:", key="train"):
        start(cue, task, trainings, tests, seeds, checkpoint)
    show_refusal()


def start(cue: str, task: str, trainings: dict, tests, seeds: int, checkpoint: Path) -> None:
    from jobs.files import Upload
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    batch, weights = time.time_ns(), Upload(checkpoint, deep=False)
    for seed in range(seeds):
        for training, data in trainings.items():
            settings = FinetuneSettings(
                epochs=EPOCHS, pooling="mean" if task == "classification" else "cls", seed=seed,
                optimization=Optimization(learning_rate=RATE), evaluations_per_epoch=2,
            )  # fmt: skip
            title = f"{training_names()[training]} · " + _("seed {n}").format(n=seed)
            kind = f"{KIND}/{cue}/{batch}/{training}"
            submit("minibert.finetune.run:finetune", weights, task, data, tests, settings, title=title, kind=kind)


def latest(cue: str) -> list:
    """The runs of the last click, oldest first."""
    runs = own_runs(f"{KIND}/{cue}")
    return [run for run in reversed(runs) if run.kind.rsplit("/", 1)[0] == runs[0].kind.rsplit("/", 1)[0]]


def training_of(run) -> str:
    return run.kind.rsplit("/", 1)[1]


def results(cue: str) -> None:
    lesson.show("Remove the cue, flip the cue")
    runs = latest(cue)
    if not runs:
        with st.container(border=True):
            st.markdown(_("**No run yet.** Press *Train*: the curves come within seconds."))
        return
    live(tuple(run.id for run in runs), draw, lambda found: state_rows(found, speed))


def speed(step: dict) -> str:
    return _(" · loss {loss:.3f}").format(loss=step["loss"])


def draw(runs: list) -> None:
    curves: dict[str, dict[str, list]] = {}
    for run in runs:
        if run.latest("eval"):
            by_test: dict[str, list] = {}
            for event in run.events():
                if event["event"] == "eval":
                    for test, share in accuracies(run, event).items():
                        by_test.setdefault(test, []).append((event["step"], share))
            for test, points in by_test.items():
                curves.setdefault(training_of(run), {}).setdefault(test, []).append(points)
    if not curves:
        return
    from plots.cues import accuracy_over_steps, final_accuracy

    order = [name for name in training_names() if name in curves]
    curves = {name: curves[name] for name in order}
    finals = {
        name: {test: [points[-1][1] for points in lines] for test, lines in by_test.items()}
        for name, by_test in curves.items()
    }
    rows = [
        {
            _("model"): training_names()[name],
            _("test"): test_names()[test],
            _("mean accuracy"): sum(values) / len(values),
            _("lowest"): min(values),
            _("highest"): max(values),
        }
        for name, by_test in finals.items()
        for test, values in by_test.items()
    ]
    words = "; ".join(f"{row[_('model')]}, {row[_('test')]}: {row[_('mean accuracy')]:.0%}" for row in rows)
    if all(run.over for run in runs):
        alt = _("Accuracy on the three tests at the end. {words}.").format(words=words)
        drawn = final_accuracy(finals, training_names(), test_names(), 0.5, _("accuracy"))
        with st.container(key="wide-finals"):
            figure(drawn, alt, "finals", data=rows)
    alt = _("Accuracy on the three tests while training, a line a seed. Now: {words}.").format(words=words)
    titles = (_("step"), _("accuracy"))
    drawn = accuracy_over_steps(curves, training_names(), test_names(), 0.5, titles)
    with st.container(key="wide-curves"):
        figure(drawn, alt, "curves", data=rows)


def accuracies(run, event: dict) -> dict[str, float]:
    """Test → share that was right."""
    grades: dict[str, list[float]] = {}
    for example, said in zip(dev_examples(run), event["details"]["predictions"], strict=True):
        grades.setdefault(example["extra"]["condition"], []).append(said["grade"])
    return {test: sum(values) / len(values) for test, values in grades.items()}


# --- attribution points at it -----------------------------------------------------------------------------------------


def finished(cue: str) -> dict[str, object]:
    """Training → its first finished run of the last click."""
    found = {}
    for run in latest(cue):
        if settled(run) and run.state == "finished" and complete(run.result):
            found.setdefault(training_of(run), run)
    return found


@st.cache_data(show_spinner=False, max_entries=256)
def attributed(run_id: str, _run, given: tuple) -> tuple:
    """(words, their starts, segments, values, the answer, its probability) by integrated gradients."""
    from minibert.inside.attribution import Case, integrated_gradients, probability

    case = Case.of(predictor_of(_run), dict(given))
    values = integrated_gradients(case, steps=16).values
    words = [word.text for word in case.words]
    starts = [word.start for word in case.words]
    segments = [word.segment for word in case.words]
    return words, starts, segments, values.tolist(), case.label, float(probability(case.score))


@st.fragment
def looks_at(cue: str) -> None:
    lesson.show("What it looks at")
    runs = finished(cue)
    if not runs:
        st.info(_("Train the models above first."), icon=":material/arrow_upward:")
        return
    fields = ("text", "pair") if cue == "overlap" else ("text",)
    run = next(iter(runs.values()))
    flipped = [example for example in dev_examples(run) if example["extra"]["condition"] == "flipped"]
    flipped.sort(key=lambda example: example["extra"]["cue"] == "no")  # first those in which the cue is to be seen
    names = [f"{shorten(example[fields[-1]], 90)}  ({example['label']})" for example in flipped[:40]]
    example = flipped[pick("example", _("A text whose cue lies"), names)]
    for training in (name for name in training_names() if name in runs):
        given = tuple((field, example[field]) for field in fields)
        words, _starts, segments, values, label, sure = attributed(runs[training].id, runs[training], given)
        right = _("right") if label == example["label"] else _("wrong")
        st.markdown(
            _("**{training}** says **{label}** ({p:.0%}): {right}.").format(
                training=training_names()[training].capitalize(), label=literal(label), p=sure, right=right
            )
        )
        breaks = [i for i in range(1, len(words)) if segments[i] != segments[i - 1]]
        show_attributed(words, values, label=_("The text, with what each word speaks for"), breaks=breaks)
    if cue == "not":
        strongest(runs, flipped)


def strongest(runs: dict, examples: list[dict]) -> None:
    """How often the strongest word stands in the aside."""
    rows = []
    with st.spinner(_("Asking {n} texts …").format(n=SAME_CUE_TEXTS)):
        for training in (name for name in training_names() if name in runs):
            hits, room = 0, []
            for example in examples[:SAME_CUE_TEXTS]:
                words, starts, _segments, values, *_rest = attributed(
                    runs[training].id, runs[training], (("text", example["text"]),)
                )
                inside = [start < len(example["extra"]["aside"]) for start in starts]
                hits += inside[max(range(len(words)), key=lambda i: abs(values[i]))]
                room.append(sum(inside) / len(inside))
            rows.append((training, hits, sum(room) / len(room)))
    for training, hits, share in rows:
        st.markdown(
            _(
                "- **{training}**: the strongest word stands in the aside in **{hits} of {n}** texts; the aside is "
                "{share:.0%} of their words."
            ).format(training=training_names()[training], hits=hits, n=min(SAME_CUE_TEXTS, len(examples)), share=share)
        )


# --- files of the reader's own ----------------------------------------------------------------------------------------


@st.fragment
def real_data() -> None:
    from minibert.inside.spurious_cues import cue_words

    lesson.show("Cues in real data")
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
    found = cue_words(data, least=max(10, len(data.examples) // 100))[:CUE_ROWS]
    st.markdown(_("{n:,} examples. The strongest words:").format(n=len(data.examples)))
    if not found:
        st.info(_("No word occurs in enough examples."))
        return
    st.table(
        [
            {
                _("word"): literal(cue.word),
                _("speaks for"): literal(cue.answer) if cue.answer is not None else _("the choice that has it"),
                _("coverage"): f"{cue.coverage:.1%}",
                _("productivity"): f"{cue.productivity:.1%}",
                _("chance"): f"{1 / cue.choices:.0%}",
            }
            for cue in found
        ]
    )
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
    """A file in any of the formats of classes, pairs and choices; None while there is nothing usable."""
    from minibert.tasks import TASKS, TaskDataError, guess_task

    st.markdown(
        _(
            "ARCT (`train.csv` with `warrant0`, `warrant1` …), HANS (`heuristics_evaluation_set.txt`), any GLUE pair "
            "file, or a TSV or CSV with a text and a label column."
        )
    )
    file = st.file_uploader(_("Your file"), type=["tsv", "csv", "txt"], key="file")
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
        st.error(literal(error), icon=":material/error:")
        return None


def hans(data) -> None:
    """How the models trained above, and the class's model of pairs, do on each heuristic."""
    from minibert.inside.spurious_cues import by_heuristic

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


# --- the checklist ----------------------------------------------------------------------------------------------------


def rule_names() -> dict[str, str]:
    return {
        "synonym": _("another word for the same"),
        "name": _("another name"),
        "short form": _("isn’t for is not"),
        "aside": _("a neutral sentence behind it"),
        "typo": _("a typo"),
        "negation": _("negated, or no longer"),
        "opposite": _("a word becomes its opposite"),
        "order": _("words shuffled"),
    }


@st.cache_data(show_spinner=False, max_entries=32)
def checked(run_id: str, _run, inputs: tuple, field: str) -> list:
    from minibert.inside.checklist import check

    return list(check(predictor_of(_run), [dict(given) for given in inputs], field))


@st.fragment
def checklist() -> None:
    lesson.show("A checklist")
    run = classifier_choice()
    if run is None:
        return
    show_accuracy(run)
    field = "pair" if task_of(run) == "pair" else "text"
    inputs = texts_to_check(run)
    if not inputs:
        st.info(_("Type at least one sentence."), icon=":material/edit:")
        return
    with st.spinner(_("Editing and asking …")):
        found = checked(run.id, run, tuple(tuple(given.items()) for given in inputs), field)
    rates(found)
    flipped(found)


def texts_to_check(run) -> list[dict[str, str]]:
    """The reader's own lines, or the held-out texts; of the course's reviews the plain ones, whose meaning a rule can
    turn round."""
    sources = {"held-out": _("held-out texts"), "own": _("your own sentences")}
    pairs = task_of(run) == "pair"
    source = "held-out" if pairs else choice("texts", _("Texts"), sources)
    examples = dev_examples(run)
    if source == "own":
        chinese = in_chinese(run)
        start = [example["text"] for example in examples[:4]] if chinese else lesson.examples
        text = sentence_input(
            "zh-lines" if chinese else "lines", [], default="\n".join(start), label=_("One sentence a line"),
            multiline=True, max_chars=MOST_CHARACTERS,
        )  # fmt: skip
        return [{"text": line.strip()} for line in text.splitlines() if line.strip()][:MOST_LINES]
    plain = [example for example in examples if example["extra"].get("kind", "plain") == "plain"]
    return [{"text": e["text"], **({"pair": e["pair"]} if pairs else {})} for e in plain][:200]


def rates(found: list) -> None:
    from plots.checklist import FlipRate, flip_rates

    names = rule_names()
    applied = [one for one in found if one.texts]
    if not applied:
        st.info(_("None of the rules applies to these texts."))
        return
    rows = [
        FlipRate(
            names[one.rule.name], one.rule.expects, one.rate, one.interval,
            _("{flips} of {n}").format(flips=one.flips, n=len(one.texts)),
        )
        for one in applied
    ]  # fmt: skip
    expected = {"same": _("should stay"), "change": _("should change"), "open": _("neither right nor wrong")}
    with st.container(key="wide-rates"):
        figure(
            flip_rates(rows, _("answers that flipped")),
            _("How often each rule flips the answer. {rows}.").format(
                rows="; ".join(f"{row.name} ({expected[row.expects]}): {row.note}" for row in rows)
            ),
            "rates",
            data=[
                {
                    _("rule"): row.name,
                    _("the answer"): expected[row.expects],
                    _("flipped"): row.rate,
                    _("at least"): row.interval[0],
                    _("at most"): row.interval[1],
                    _("texts"): len(one.texts),
                    _("of"): one.of,
                }
                for row, one in zip(rows, applied, strict=True)
            ],
        )


def flipped(found: list) -> None:
    """The texts behind one of the numbers."""
    names = {one.rule.name: rule_names()[one.rule.name] for one in found if one.texts}
    if not names:
        return
    rule = choice("rule", _("The texts behind it"), names, wrap=True)
    one = next(one for one in found if one.rule.name == rule)
    texts = sorted(one.texts, key=lambda edited: not edited.flipped)
    rows = [
        {
            _("before"): visible(edited.before, spaces=False),
            _("after"): visible(edited.after, spaces=False),
            _("answer"): f"{edited.label} {edited.answer[edited.label]:.0%}",
            _("then"): f"{edited.label_after} {edited.answer_after[edited.label_after]:.0%}",
            _("flipped"): "●" if edited.flipped else "",
        }
        for edited in texts
    ]
    # A cell of st.table is Markdown, one of st.dataframe is not.
    st.table([{name: literal(value) for name, value in row.items()} for row in rows[:FLIP_ROWS]])
    if len(rows) > FLIP_ROWS:
        with st.expander(_("All {n}").format(n=len(rows))):
            st.dataframe(rows, hide_index=True)


def code() -> None:
    from minibert.inside import checklist
    from minibert.inside import spurious_cues as cues

    lesson.show("What to do about it")
    lesson.show("The code")
    show_source(cues.with_aside, find="cued")
    show_source(cues.overlap_pairs, find="common")
    show_source(cues.cue_words)
    show_source(checklist.check, find="rule.edit")


st.html(STYLE)
lesson.show_title()
lesson.show("Two famous cases")
planted()
looks_at(st.session_state["cue"])
real_data()
checklist()
code()
lesson.quiz()
next_lesson("wrong_reasons")
