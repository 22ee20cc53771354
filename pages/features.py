"""Features or fine-tuning: which layers the new layer reads, whether BERT learns, and what that costs."""

import statistics
import time
import tomllib
from pathlib import Path

import streamlit as st

from minibert.experiments.comparisons import COMPARISONS, Comparison
from minibert.experiments.results import by_arm
from ui.figures import figure, legend
from ui.inputs import choice, sentence_input
from ui.lesson import LESSONS, Lesson
from ui.models import outline_of
from ui.recorded import command, comparison, recorded, start, start_choice, start_folder
from ui.runs import live, manager, own_runs, show_refusal, state_rows, submit
from ui.source import show_source
from ui.text import literal
from ui.translations import _

# What imports torch or plotly is imported where it is first needed: the page shows before that.

KIND = "features"
TOKENS = 12  # columns that a figure has room for
SECONDS_AT_MOST = 300
BYTES = 4  # a weight of a saved run

lesson = Lesson("features")
paper = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))


def arm_names(name: str) -> dict[str, str]:
    """The arms of a comparison in words, fine-tuning first."""
    if name == "pooling":
        return {
            "fine-tuned-cls": _("fine-tuned, [CLS]"),
            "fine-tuned-mean": _("fine-tuned, mean"),
            "fine-tuned-max": _("fine-tuned, maximum"),
            "frozen-cls": _("frozen, [CLS]"),
            "frozen-mean": _("frozen, mean"),
            "frozen-max": _("frozen, maximum"),
            "frozen-mean-embeddings": _("frozen, mean of the embeddings"),
            "frozen-mean-last-four": _("frozen, mean of the last four, concatenated"),
            "frozen-cls-all": _("frozen, [CLS] of every layer"),
        }
    return {
        "fine-tuned": _("fine-tuned"),
        "embeddings": _("embeddings"),
        "second-to-last": _("second-to-last layer"),
        "last": _("last layer"),
        "last-four-sum": _("last four, summed"),
        "last-four-concat": _("last four, concatenated"),
        "weighted": _("all layers, weighted"),
        "last-linear": _("last layer, no BiLSTM"),
        "random": _("random weights, all trained"),
    }


def how_in_words(reading) -> str:
    several = {
        "one": _("one layer, {width} numbers a token"),
        "sum": _("{n} layers added: still {width} numbers a token"),
        "concat": _("{n} layers side by side: {width} numbers a token"),
        "mix": _("{n} layers in a learned mixture: {width} numbers a token"),
    }
    return several[reading.how].format(n=len(reading.layers), width=f"{reading.width:,}")


def pooling_in_words(pooling: str | None) -> str:
    return {
        None: _("every token goes on"),
        "pooler": _("[CLS], through the pooler"),
        "cls": _("[CLS] goes on"),
        "mean": _("the mean of the tokens goes on"),
        "max": _("the maximum of the tokens goes on"),
    }[pooling]


# --- what is read ---------------------------------------------------------------------------------------------------


@st.fragment
def show_reading(made: Comparison) -> None:
    from minibert.finetune.layer_choice import reading
    from plots.features import FROZEN, NEW, TRAINED, stack

    names = arm_names(made.name)
    arm = choice(f"read-{made.name}", _("What the new layer reads"), names, wrap=True)
    values = made.values(arm)
    outline = outline_of(start())
    tokenizer, config = outline.tokenizer, outline.config
    text = sentence_input("text", lesson.examples, label=_("Your own sentence"), max_chars=300)
    encoding = tokenizer.encode(text, max_length=TOKENS, truncation="head")
    blocks, hidden, frozen = config.num_hidden_layers, config.hidden_size, values.get("freeze") == "all"
    found = reading(
        values.get("layers", "last"),
        blocks,
        hidden,
        pooling=None if made.task == "tagging" else values.get("pooling", "cls"),
        bilstm=values.get("bilstm", False),
    )
    rows = {
        "embeddings": _("embeddings"),
        "layer": _("layer {n}"),
        "read": _("what is read: {width}").format(width=f"{found.width:,}"),
        "bilstm": _("BiLSTM: {width}").format(width=f"{found.width:,}"),
        "new": _("new layer"),
    }
    outputs = _("a tag for each word, at its first piece") if made.task == "tagging" else _("two classes")
    fig = stack(encoding.tokens, found, blocks, frozen, rows, outputs)
    learns = _("BERT is frozen") if frozen else _("all of BERT is trained")
    alt = _("{arm}: {learns}. Read: {how}; {pooling}.").format(
        arm=names[arm], learns=learns, how=how_in_words(found), pooling=pooling_in_words(found.pooling)
    )
    figure(fig, alt, key="stack")
    legend(
        [
            (TRAINED, "■", _("BERT, trained")),
            (FROZEN, "■", _("BERT, frozen")),
            (NEW, "■", _("new, starts from random numbers")),
            ("gray", "□", _("not filled: computed, but not read")),
        ]
    )
    st.markdown(f"**{literal(alt)}**", width=820)
    counted = sizes_of(made.name, arm)
    with st.container(horizontal=True, gap="large", key="counted"):
        st.metric(_("numbers trained"), f"{counted.trained:,}", width="content")
        st.metric(_("of them in the head"), f"{counted.head:,}", width="content")
        st.metric(_("kept for this task"), megabytes(counted.stored), width="content")
    from minibert.heads import TaskHead

    show_source(TaskHead.choose, find=values.get("layers", "last"), label=_("The code that chooses: `TaskHead.choose`"))
    show_source(TaskHead.pool, label=_("The code that makes one vector of many: `TaskHead.pool`"))


def megabytes(numbers: int) -> str:
    size = numbers * BYTES / 1e6
    return _("{size} MB").format(size=f"{size:,.1f}" if size >= 1 else f"{size:.2g}")


@st.cache_data(show_spinner=False)
def data_of(name: str):
    from minibert.experiments.compare import read_data

    return read_data(COMPARISONS[name], LESSONS / "data")


def sizes_of(name: str, arm: str):
    """Counted from the model that would be trained."""
    made = comparison(name)
    return counted_sizes(start_folder(), made.name, made.task, made.values(arm))


@st.cache_data(show_spinner=False, max_entries=64)
def counted_sizes(folder: Path, name: str, task: str, values: dict):
    from minibert.experiments.compare import settings_of, sizes

    with st.spinner(_("Building the model …")):
        return sizes(folder, task, data_of(name)[0], settings_of(values, 0))


# --- recorded results -----------------------------------------------------------------------------------------------


def metric_of(comparison: Comparison) -> tuple[str, str]:
    """(its key in the metrics, its name)"""
    return ("f1", _("dev F1")) if comparison.task == "tagging" else ("accuracy", _("dev accuracy"))


def in_percent(records: list[dict], metric: str) -> dict[str, dict[int, float]]:
    return {arm: {seed: 100 * value for seed, value in seeds.items()} for arm, seeds in by_arm(records, metric).items()}


def show_results(name: str) -> None:
    records, made = recorded(name), comparison(name)
    if not records:
        with st.container(border=True, key="no-results"):
            st.markdown(_("**No results of this comparison have been recorded here yet.** This makes them:"))
            st.code(command(name), "bash")
        return
    from plots.experiments import Score, scores

    key, title = metric_of(made)
    found, names = in_percent(records, key), arm_names(name)
    theirs = {} if name == "pooling" else paper["values"]
    rows = [Score(names[arm], theirs.get(arm), found[arm]) for arm in names if arm in found]
    fig = scores(rows, (_("The paper"), _("Ours")), (paper["column"], title), _("seed"))
    cost = {record["arm"]: record for record in records}
    table = [
        {
            _("arm"): names[arm],
            **({_("paper"): f"{theirs[arm]:.1f}" if arm in theirs else "–"} if theirs else {}),
            _("ours, mean"): f"{statistics.fmean(found[arm].values()):.1f}",
            _("sd"): f"{statistics.stdev(found[arm].values()):.1f}" if len(found[arm]) > 1 else "–",
            _("seeds"): len(found[arm]),
            _("numbers trained"): f"{cost[arm]['trained']:,}",
            _("core seconds a run"): f"{statistics.fmean(r['seconds'] for r in records if r['arm'] == arm):.0f}",
        }
        for arm in names
        if arm in found
    ]
    words = "; ".join(
        _("{arm}: {mean} ± {sd}").format(arm=row[_("arm")], mean=row[_("ours, mean")], sd=row[_("sd")]) for row in table
    )
    alt = _("{metric} of every arm, mean and standard deviation over seeds. {words}.").format(metric=title, words=words)
    figure(fig, alt, key=f"scores-{name}", data=table)
    last = records[-1]
    st.caption(
        _(
            "A dot is a seed; the line is their mean, the bar one standard deviation. {train:,} sentences to train on, "
            "measured on {dev:,}, from {model}. {theirs}Made with: {command}"
        ).format(
            train=last["examples"],
            dev=last["measured_on"],
            model=literal(last["model"]),
            theirs=_("Left: {source}; the scales differ. ").format(source=literal(paper["source"])) if theirs else "",
            command=f"`{last['command']}`",
        )
    )
    st.table(table)
    findings(name, found, names)


def findings(name: str, found: dict[str, dict[int, float]], names: dict[str, str]) -> None:
    """The best frozen arm against fine-tuning, in a sentence."""
    from minibert.experiments.results import paired_difference

    made = comparison(name)
    frozen = [arm for arm in found if made.values(arm).get("freeze") == "all"]
    tuned = [arm for arm in found if arm not in frozen and arm != "random"]
    if not (frozen and tuned):
        return
    best, base = (max(arms, key=lambda arm: statistics.fmean(found[arm].values())) for arms in (frozen, tuned))
    ours = paired_difference(found[best], found[base])
    if ours is None or ours.half is None:
        return
    gap = f"{ours.mean:+.1f} ± {ours.half:.1f}".replace("-", "−")
    text = _(
        "Best frozen arm here: **{best}**, {gap} points against **{base}** (95 % interval over {n} seeds)."
    ).format(best=literal(names[best]), gap=gap, base=literal(names[base]), n=ours.seeds)
    if name != "pooling":
        values = paper["values"]
        their_best = max((arm for arm in values if arm != "fine-tuned"), key=values.get)
        theirs = f"{values[their_best] - values['fine-tuned']:+.1f}".replace("-", "−")
        text += " " + _("In the paper: {arm}, {gap}.").format(arm=literal(names[their_best]), gap=theirs)
    st.markdown(text, width=820)


# --- two of them now ------------------------------------------------------------------------------------------------


@st.fragment
def run_two(name: str) -> None:
    made, names = comparison(name), arm_names(name)
    arms = list(names)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = st.selectbox(_("First arm"), arms, 0, format_func=names.get, key=f"first-{name}", width=330)
        second = st.selectbox(_("Second arm"), arms, 3, format_func=names.get, key=f"second-{name}", width=330)
        seed = st.number_input(_("Seed"), 0, 99, 3, key="seed", width=120)
        if st.button(_("Run both"), type="primary", icon=":material/play_arrow:", key="run-two"):
            start_runs(made, list(dict.fromkeys((first, second))), int(seed))
    show_refusal()
    runs = own_runs(f"{KIND}/{name}")
    if not runs:
        st.markdown(_("No run yet: the bars appear a few seconds after the click."))
        return
    newest = [run for run in runs if run.kind == runs[0].kind]
    live(tuple(run.id for run in reversed(newest)), lambda shown: draw_live(name, shown), rows_of_runs)


def start_runs(made: Comparison, arms: list[str], seed: int) -> None:
    from jobs.files import Upload
    from minibert.experiments.compare import settings_of

    train, dev = data_of(made.name)
    weights, kind = Upload(start_folder(), deep=False), f"{KIND}/{made.name}/{time.time_ns()}"
    for arm in arms:
        settings = settings_of(made.values(arm), seed, max_seconds=SECONDS_AT_MOST)
        title = f"{arm_names(made.name)[arm]} · " + _("seed {n}").format(n=seed)
        submit("minibert.finetune.run:finetune", weights, made.task, train, dev, settings, title=title, kind=kind)


def arm_of(made: Comparison, settings: dict) -> str | None:
    """Which arm a run's settings are; None where they have been changed since."""
    from minibert.experiments.compare import settings_of

    def told(values) -> tuple:
        return tuple(values[key] for key in ("freeze", "layers", "pooling", "bilstm", "from_scratch"))

    return next((arm for arm in made.arms if told(vars(settings_of(made.values(arm), 0))) == told(settings)), None)


def rows_of_runs(runs: list) -> None:
    state_rows(runs, lambda step: _(" · loss {loss:.3f}").format(loss=step["loss"]))


def draw_live(name: str, runs: list) -> None:
    from plots.features import Bar, bars

    made = comparison(name)
    key, title = metric_of(made)
    past = in_percent(recorded(name), key)
    rows, table = [], []
    for run in runs:
        begun, measured, step = run.latest("started"), run.latest("eval"), run.latest("step")
        arm = arm_of(made, begun["settings"]) if begun else None
        score = 100 * measured["metrics"][key] if measured else None
        rows.append(Bar(run.title, score, tuple(past.get(arm, {}).values())))
        table.append(
            {
                _("run"): run.title,
                title: "–" if score is None else f"{score:.1f}",
                _("recorded, mean"): f"{statistics.fmean(past[arm].values()):.1f}" if arm in past else "–",
                _("seconds of training"): f"{step['seconds']:.1f}" if step else "–",
            }
        )
    if any(row.score is not None for row in rows):
        now = "; ".join(f"{row[_('run')]}: {row[title]}" for row in table)
        fig = bars(rows, title, (_("this run, now"), _("recorded runs, other seeds")))
        figure(fig, _("{metric} of each run, now. {now}.").format(metric=title, now=now), key="bars", data=table)
        st.table(table)


# --- cost -----------------------------------------------------------------------------------------------------------


@st.fragment
def show_cost() -> None:
    from plots.features import storage

    left, right = st.columns(2, gap="medium")
    with left:
        tasks = st.slider(_("Tasks that share one BERT"), 1, 50, 10, key="tasks", bind="query-params")
    words = arm_names("features")
    heads = [arm for arm in words if COMPARISONS["features"].values(arm).get("freeze") == "all"]
    with right:
        head = st.selectbox(_("Head of a task"), heads, heads.index("last"), format_func=words.get, key="head")
    whole, frozen = sizes_of("features", "fine-tuned"), sizes_of("features", head)
    body = whole.whole - whole.head
    numbers = range(1, 51)
    tuned = [n * whole.whole * BYTES / 1e6 for n in numbers]
    read = [(body + n * frozen.head) * BYTES / 1e6 for n in numbers]
    names = (_("fine-tuned: a model a task"), _("features: one model, a head a task"))
    fig = storage(numbers, dict(zip(names, (tuned, read), strict=True)), tasks, (_("tasks"), _("megabytes kept")))
    alt = _(
        "{n} tasks: {tuned:,.0f} MB of fine-tuned models, against {read:,.0f} MB for one model and {n} heads. BERT "
        "here has {body:,} numbers, this head {head:,}."
    ).format(n=tasks, tuned=tuned[tasks - 1], read=read[tasks - 1], body=body, head=frozen.head)
    figure(fig, alt, key="storage")
    st.markdown(f"**{alt}**", width=820)


# --- the page -------------------------------------------------------------------------------------------------------

lesson.open()
manager().warm_up()
lesson.show("Two ways to use a model")
with st.container(width=360):
    start_choice("features", "features-conll", "pooling")
lesson.show("Which vectors are read")
asked = choice(
    "asked", _("What is asked"), {"tagging": _("a tag for each word"), "class": _("a class of the sentence")}
)
chosen = "features" if asked == "tagging" else "pooling"
show_reading(comparison(chosen))
if asked == "tagging":
    lesson.show("What came out")
    sets = {"features": _("our own sentences with names"), "features-conll": _("CoNLL-2003, 2,000 sentences")}
    show_results(choice("set", _("Data"), sets))
else:
    lesson.show("Sentences")
    show_results("pooling")
lesson.show("Run two of them now")
run_two(chosen)
lesson.show("What it costs")
show_cost()
lesson.show("How to read these numbers")
lesson.close()
