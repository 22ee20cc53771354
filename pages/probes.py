"""What each layer knows: linear probes with control tasks, beside what papers report, and the logit lens."""

import csv
import tempfile
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ui.computations import compute, computed, fingerprint, follow, name_of, show_failure
from ui.figures import figure, readable
from ui.inputs import choice, sentence_input
from ui.lesson import LESSONS, Lesson
from ui.models import UNTRAINED, WELL_READ, available_models, can_fill, load, model_choice, version_of, warn_untrained
from ui.navigation import next_lesson
from ui.runs import show_refusal
from ui.samples import annotated, pronouns, requests, tagged
from ui.source import show_source
from ui.state import follow_link, set_url, url_text
from ui.text import literal, visible
from ui.translations import _, ngettext

if TYPE_CHECKING:
    from minibert.inside.probe_tasks import ProbeTask
    from minibert.inside.probes import KindOrder, TaskResult

# What imports torch or plotly is imported where it is first needed: the page shows before that.

STORIES = 200  # of the toy world
SEEDS = 3
SMALL_VOCABULARY = 1_000  # entries: below, a model has learned the toy world
GUESSES = 5
MAX_CHARS = 1_000
LARGEST = 2**21  # bytes of a file with columns
FEWEST_SENTENCES = 6  # a third of them is tested on

lesson = Lesson("probes")


def task_names() -> dict[str, str]:
    return {
        "length": _("sentence length"), "pos": _("part of speech"), "chunk": _("chunk"), "number": _("number"),
        "tense": _("tense"), "relation": _("dependency"), "order": _("word order"), "coreference": _("coreference"),
        "names": _("kind of name"), "topic": _("topic"), "segmentation": _("word boundaries"),
    }  # fmt: skip


def task_name(name: str) -> str:
    return task_names().get(name, name)


def kind_names() -> dict[str, str]:
    return {"surface": _("surface"), "syntax": _("syntax"), "meaning": _("meaning")}


def layer_names(count: int) -> list[str]:
    return [_("embeddings"), *(str(number) for number in range(1, count))]


# --- what is asked ----------------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=8)
def tasks_of(source: str, content: bytes = b"", name: str = "") -> "tuple[list[ProbeTask], str]":
    """The tasks that a source gives, and a fingerprint of them. Raises TaskDataError for an unusable file."""
    from minibert.inside import probe_tasks
    from minibert.inside.probes import ITEMS
    from minibert.toy.world import stories

    if source == "toy":
        tasks = probe_tasks.toy_tasks(stories(STORIES, seed=0))
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
    """The reader's choice of annotated sentences; None while there is nothing usable."""
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
    file = st.file_uploader(_("Your file"), type=["txt", "conll", "tsv"], key="file")
    if file is None:
        return None
    if file.size > LARGEST:
        st.error(_("The file has more than {n} MB.").format(n=LARGEST // 2**20), icon=":material/error:")
        return None
    try:
        tasks = tasks_of("file", file.getvalue(), file.name)
    except TaskDataError as error:
        st.error(literal(error), icon=":material/error:")
        return None
    if tasks[0] and len(tasks[0][0].sentences) < FEWEST_SENTENCES:
        st.error(
            _("The file has fewer than {n} sentences: put a blank line after each.").format(n=FEWEST_SENTENCES),
            icon=":material/error:",
        )
        return None
    if not tasks[0]:
        st.error(_("No column has two labels that occur often enough to probe for."), icon=":material/error:")
        return None
    return tasks


def show_tasks(tasks: "list[ProbeTask]") -> None:
    """Each task in a line: what has a label, which labels, an example."""
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


# --- the runs ---------------------------------------------------------------------------------------------------------


def start(name: str, model: str, random: bool, tasks: "list[ProbeTask]", seeds: int, title: str) -> None:
    """Probe a model, or one of its shape with random weights, in a job of its own."""
    from jobs.files import Upload
    from minibert import checkpoint
    from minibert.inside.probes import untrained_copy

    loaded = load(model)
    with tempfile.TemporaryDirectory() as folder:
        weights = untrained_copy(loaded.model) if random else loaded.model
        packed = Upload(checkpoint.save(f"{folder}/model", weights, loaded.tokenizer))
    compute(name, "minibert.inside.probes:probe_layers", packed, tasks, seeds, title=title)


def probing(model: str) -> None:
    lesson.show("Ask every layer")
    chosen = choose_tasks(model)
    if chosen is None:
        return
    tasks, print_of_tasks = chosen
    with st.expander(_("What is asked: {n} tasks").format(n=len(tasks)), icon=":material/list:"):
        show_tasks(tasks)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        seeds = st.slider(_("Seeds"), 1, 5, SEEDS, key="seeds", bind="query-params", width=240)
        beside = model != UNTRAINED and st.toggle(
            _("Beside it, random weights"), value=True, key="beside", bind="query-params"
        )
    title = next(info.title for info in available_models() if info.name == model)
    wanted = {False: title} | ({True: _("random weights")} if beside else {})
    names = {
        random: "probes-" + fingerprint(model, version_of(model), random, print_of_tasks, seeds) for random in wanted
    }
    missing = [random for random, name in names.items() if computed(name) is None]
    if missing:
        a_layer = sum(1 if task.unit == "sentence" else 2 for task in tasks)  # with the control task
        probes = a_layer * seeds * (load(model).config.num_hidden_layers + 1) * len(missing)
        if st.button(
            ngettext("Train {n} probe", "Train {n} probes", probes).format(n=f"{probes:,}"),
            key="probe",
            type="primary",
            icon=":material/play_arrow:",
        ):
            for random in missing:
                start(names[random], model, random, tasks, seeds, wanted[random])
            st.rerun()
    show_refusal()
    for random in missing:
        show_failure(names[random])
    if len(missing) == len(names):
        with st.container(border=True):
            st.markdown(_("**No probe yet.** Press the button: the first lines come within seconds."))
        settles(None)
        return
    order = list(names)
    follow(tuple(names[random] for random in order), lambda runs: draw(runs, names))


def draw(runs: list, names: dict[bool, str]) -> None:
    """The runs of the model and, where there is one, of random weights. names: of the computations."""
    from minibert.inside.probes import gathered

    found = {name_of(run): gathered(run.events()) for run in runs}
    ours, random = found.get(names[False], []), found.get(names.get(True), [])
    if not ours:
        return
    show_lines(ours, random)
    settles(ours if all(run.over for run in runs) else None)


def show_lines(ours: "list[TaskResult]", random: "list[TaskResult]") -> None:
    from plots.over_layers import Line, Panel, over_layers

    measure = choice("measure", _("Shown"), {"accuracy": _("accuracy"), "selectivity": _("selectivity")})
    beside = {result.name: result for result in random}

    def line(values: np.ndarray, name: str, look: str) -> Line:
        """values: (seeds, L + 1)"""
        spread = {"low": values.min(0).tolist(), "high": values.max(0).tolist()} if len(values) > 1 else {}
        return Line(name, values.mean(0).tolist(), look, **spread)

    panels = []
    for result in ours:
        other = beside.get(result.name)
        if measure == "accuracy":
            lines = [line(result.accuracy, _("this model"), "first")]
            if result.control is not None:
                lines.append(line(result.control, _("control task"), "second"))
            if other is not None:
                lines.append(line(other.accuracy, _("random weights"), "baseline"))
            references = {_("commonest label"): result.majority}
        elif result.selectivity is None:
            continue
        else:
            lines = [line(result.selectivity, _("this model"), "first")]
            if other is not None:
                lines.append(line(other.selectivity, _("random weights"), "baseline"))
            references = {"": 0.0}
        low = min([0.0, *(value for one in lines for value in one.low or one.values)])
        panels.append(Panel(task_name(result.name), lines, references, True, (low - 0.02, 1.05)))
    if not panels:
        st.info(_("Only words and pairs have a control task, and none was asked about."), icon=":material/info:")
        return
    names = layer_names(ours[0].accuracy.shape[1])
    best = "; ".join(
        _("{task}: best at layer {layer}, {value:.0%}").format(
            task=task_name(result.name), layer=names[result.best], value=result.mean[result.best]
        )
        for result in ours
    )
    with st.container(key="wide-probes"):
        figure(
            over_layers(panels, [str(n) for n in range(len(names))], _("layer (0: embeddings)"), columns=3),
            _("Probes over the layers, the mean of the seeds with their range. {best}.").format(best=best),
            "probe-lines",
            data=lambda: [
                {
                    _("task"): task_name(result.name),
                    _("layer"): names[layer],
                    _("accuracy"): result.mean[layer],
                    _("range over seeds"): np.ptp(result.accuracy[:, layer]),
                    _("control task"): None if result.control is None else result.control.mean(0)[layer],
                    _("commonest label"): result.majority,
                }
                for result in ours
                for layer in range(len(names))
            ],
        )
    show_gains(ours, beside)


def show_gains(ours: "list[TaskResult]", beside: "dict[str, TaskResult]") -> None:
    """What the weights have added: the best layer beside the best of random weights."""
    gains = {r.name: r.mean.max() - beside[r.name].mean.max() for r in ours if r.name in beside}
    if len(gains) < 2:
        return
    most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    st.markdown(
        _(
            "Against random weights, best layer against best layer, the model gains most in **{most}** ({high:+.1f} "
            "points) and least in **{least}** ({low:+.1f})."
        ).format(most=task_name(most), high=100 * gains[most], least=task_name(least), low=100 * gains[least])
    )


# --- beside the papers ------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False)
def literature() -> list[dict]:
    """What a paper reports; layer ÷ layers is the depth."""
    with (LESSONS / "probes" / "literature.csv").open(encoding="utf-8", newline="") as file:
        return [{**row, "layer": float(row["layer"]), "layers": int(row["layers"])} for row in csv.DictReader(file)]


def paper_task_names() -> dict[str, str]:
    return {
        "part of speech": _("part of speech"), "constituents": _("constituents"), "dependencies": _("dependencies"),
        "entities": _("entities"), "semantic roles": _("semantic roles"), "relations": _("relations"),
        "coreference": _("coreference"),
        "sentence length": _("sentence length"), "word content": _("which words"), "tree depth": _("depth of the tree"),
        "top constituents": _("top constituents"), "word order": _("word order"), "tense": _("tense"),
        "number of the subject": _("number of the subject"), "number of the object": _("number of the object"),
        "odd word out": _("odd word out"), "order of clauses": _("order of clauses"),
    }  # fmt: skip


def measure_names() -> dict[str, str]:
    """What the papers call their layer."""
    return {"expected layer": _("expected layer"), "best layer": _("best layer")}


def settles(ours: "list[TaskResult] | None") -> None:
    """Where each task settles, ours beside the paper's."""
    from plots.over_layers import Settled, depths

    lesson.show("Surface, syntax, meaning")
    groups: dict[str, list[Settled]] = {}
    if ours:
        last = ours[0].accuracy.shape[1] - 1
        groups[_("this model: first layer within two points of the best")] = [
            Settled(task_name(r.name), r.kind, [layer / last for layer in r.settled])
            for kind in kind_names()
            for r in ours
            if r.kind == kind
        ]
    for row in literature():
        name = f"{row['paper']}, {row['model']}: {measure_names()[row['measure']]}"
        words = paper_task_names()
        groups.setdefault(name, []).append(Settled(words[row["task"]], row["kind"], [row["layer"] / row["layers"]]))
    told = " ".join(
        f"{title}: " + ", ".join(f"{row.name} {sum(row.values) / len(row.values):.0%}" for row in rows) + "."
        for title, rows in groups.items()
    )
    with st.container(key="wide-depths"):
        figure(
            depths(groups, kind_names(), _("depth: share of the layers")),
            _("How deep each task settles.") + " " + told,
            "depths",
            data=lambda: [
                {_("source"): title, _("task"): row.name, _("kind"): kind_names()[row.kind],
                 _("depth"): sum(row.values) / len(row.values)}
                for title, rows in groups.items()
                for row in rows
            ],
        )  # fmt: skip
    if not ours:
        st.caption(_("Our own results join the picture when all probes are trained."))
        return
    if len({result.kind for result in ours}) > 1:
        from minibert.inside.probes import order_of_kinds

        st.markdown(agreement(order_of_kinds(ours)))


def agreement(order: "KindOrder") -> str:
    """Whether ours agrees with the papers, in words, from the numbers."""
    where = ", ".join(
        _("{kind} at layer {layer:.1f}").format(kind=kind_names()[kind], layer=layer)
        + (f" ± {order.spread[kind]:.1f}" if order.spread[kind] else "")
        for kind, layer in order.layers.items()
    )
    verdicts = {
        "same": _("**Ours agrees:** the same order as in the papers."),
        "other": _("**Ours does not agree:** this is another order than in the papers."),
        "unclear": _("**Ours cannot tell:** the kinds are nearer to each other than the seeds are among themselves."),
    }
    return (
        _("On average over tasks and seeds, probes come within two points of their best: {where}.").format(where=where)
        + f" {verdicts[order.verdict]}"
    )


# --- the logit lens ---------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=16)
def set_ranks(model: str, version: int) -> list[list[int]]:
    """Of our cloze sentences the rank of the right word at every layer."""
    from minibert.inside.logit_lens import ranks_over_layers

    with (LESSONS / "data" / "cloze.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    loaded = load(model)
    return ranks_over_layers(loaded.model, loaded.tokenizer, [(row["sentence"], row["answer"]) for row in rows])


def answers() -> dict[str, str]:
    """The right word of each example, which stands after it in examples.toml."""
    return dict(zip(lesson.examples[::2], lesson.examples[1::2], strict=True))


@st.fragment
def lens(model: str) -> None:
    lesson.show("The logit lens")
    if not can_fill(model):
        st.info(_("This model fills no blanks: choose one that was pre-trained to."), icon=":material/info:")
        return
    left, right = st.columns([3, 1], gap="medium", vertical_alignment="top")
    with left:
        text = sentence_input("cloze", list(answers()), label=_("Sentence with a [MASK]"), max_chars=MAX_CHARS)
    with right:
        word = right_word(text)
    from minibert.inside.logit_lens import blank_of, layer_answers, only_token

    loaded = load(model)
    blank = blank_of(loaded.tokenizer, text, loaded.config.max_position_embeddings)
    if blank is None:
        st.info(_("Write `[MASK]` where the blank should be."), icon=":material/edit:")
        return
    wanted = only_token(loaded.tokenizer, word)
    if wanted is None and word.strip():
        st.caption(_("“{word}” is not one token of this vocabulary, so it has no rank.").format(word=literal(word)))
    found = layer_answers(loaded.model, loaded.tokenizer, *blank, wanted, GUESSES)
    draw_lens(model, found, None if wanted is None else loaded.tokenizer.vocab[wanted])


def right_word(text: str) -> str:
    """The word that belongs into the blank: follows the example, until the reader types another."""
    state = st.session_state
    if follow_link("right") or "right" not in state:
        state["right"], state["right-of"] = url_text("right", answers().get(text, "")), text
    elif state.get("right-of") != text and text in answers():
        state["right"] = answers()[text]
    state["right-of"] = text
    word = st.text_input(_("The right word"), key="right", max_chars=60)
    set_url("right", word, default=answers().get(text, ""))
    return word


def draw_lens(model: str, found: list, wanted: str | None) -> None:
    from plots.over_layers import Line, layer_words, ranks

    names = layer_names(len(found))
    rows = [[(visible(token), p) for token, p in answer.guesses] for answer in found]
    told = ". ".join(
        f"{name}: " + ", ".join(f"{token} {p:.0%}" for token, p in row) for name, row in zip(names, rows, strict=True)
    )
    with st.container(key="wide-lens"):
        figure(
            layer_words(rows, names, None if wanted is None else visible(wanted), (_("layer"), _("place"))),
            _("What each layer would answer. {told}.").format(told=told),
            "lens-words",
            data=lambda: [
                {_("layer"): name, _("place"): place, _("token"): token, _("probability"): p}
                for name, row in zip(names, rows, strict=True)
                for place, (token, p) in enumerate(row, 1)
            ],
        )
    if wanted is None:
        return
    lines = [Line(_("rank of {word}").format(word=visible(wanted)), [answer.rank for answer in found])]
    many = set_ranks(model, version_of(model))
    if many:
        median = np.median(many, axis=0).tolist()
        lines.append(Line(_("median of {n} other sentences").format(n=len(many)), median, "baseline"))
    first = next((name for name, answer in zip(names, found, strict=True) if answer.rank == 1), None)
    end = found[-1]
    summary = _("At the last layer **{word}** has rank {rank:,} with {p:.1%}").format(
        word=literal(wanted), rank=end.rank, p=end.probability
    )
    if first is not None:
        summary += _("; it first comes first at layer {layer}").format(layer=first)
    figure(
        ranks(lines, names, _("layer"), _("Rank of the right word (1 is best)"), load(model).config.vocab_size),
        _("Rank of the right word by layer: {ranks}.").format(
            ranks=", ".join(f"{name} {answer.rank:,}" for name, answer in zip(names, found, strict=True))
        ),
        "lens-ranks",
        data=lambda: [
            {_("layer"): name, _("rank"): answer.rank, _("probability"): answer.probability}
            for name, answer in zip(names, found, strict=True)
        ],
    )
    st.markdown(summary + ".")


def code() -> None:
    from minibert.inside.logit_lens import layer_log_probs
    from minibert.inside.probes import labels_by_type, probe

    lesson.show("The code")
    show_source(probe, find="LogisticRegression(C")
    show_source(labels_by_type, find="rng.choice")
    show_source(layer_log_probs, find="model.mlm")


readable()
lesson.show_title()
lesson.show("What is a probe?")
model = model_choice(usual=WELL_READ)
warn_untrained(model)
probing(model)
lens(model)
lesson.show("How much to believe")
code()
lesson.quiz()
next_lesson("probes")
