"""One output layer: sentence classification. Fine-tune live, from the checkpoint and from random weights."""

import statistics
import time
from pathlib import Path

import streamlit as st

from ui.figures import figure
from ui.inputs import choice, sentence_input
from ui.lesson import REVIEWS, Lesson
from ui.models import UNTRAINED, available_models, load, model_choice
from ui.navigation import next_lesson
from ui.runs import batch_title, live, manager, own_runs, show_refusal, state_rows, submit, zipped
from ui.source import show_source
from ui.text import literal, show_tokens, visible
from ui.translations import _, ngettext

# What imports torch or plotly is imported where it is first needed: the page shows before that.

KIND = "classification"
PAPER_RATE, SMALL_RATE = 5e-5, 3e-4
RATES = [2e-5, 3e-5, PAPER_RATE, 1e-4, 2e-4, SMALL_RATE, 5e-4, 1e-3]
SECONDS_AT_MOST = 900  # one run may not hold a place for ever
LARGEST_TRAINING_SET = 20_000  # sentences
MISTAKES = 12

lesson = Lesson("classification")


def start_names() -> dict[str, str]:
    return {"pretrained": _("from the checkpoint"), "random": _("from random weights")}


# --- the input and the head -----------------------------------------------------------------------------------------


@st.fragment
def one_example(checkpoint: str) -> None:
    """A sentence on its way through the model to two probabilities."""
    text = sentence_input("text", lesson.examples, label=_("Your own sentence"), max_chars=2_000)
    loaded = load(checkpoint)
    encoding = loaded.tokenizer.encode(text, max_length=loaded.config.max_position_embeddings, truncation="head")
    st.markdown(_("What the model reads, with ids; all segments are 0, as there is one sentence:"))
    show_tokens(encoding.tokens, under=encoding.ids, limit=60, label=_("Tokens"))
    hidden = loaded.config.hidden_size
    st.markdown(
        _(
            "`[CLS]` → {layers} blocks → pooler → **C**, {hidden} numbers → the new layer, 2 × {hidden} + 2 = "
            "**{new:,} new parameters** beside {old:,} from the checkpoint."
        ).format(
            layers=loaded.config.num_hidden_layers, hidden=hidden, new=2 * hidden + 2, old=encoder_size(checkpoint)
        )
    )
    from minibert.heads import BertForSequenceClassification

    show_source(BertForSequenceClassification, find="self.classifier", label=_("The head: one linear layer"))
    watch(text)


def encoder_size(checkpoint: str) -> int:
    from minibert.count import parameters

    return parameters(load(checkpoint).config).with_pooler


def watch(text: str) -> None:
    """Runs answer the sentence on screen: those that go on from now on, finished ones at once."""
    before = st.session_state.get("watched")
    st.session_state["watched"] = text
    if text == before:
        return
    runs = own_runs(KIND)
    for run in runs:
        if not run.over:
            run.send([text])
    if before is not None and runs:
        st.rerun()  # the whole page: the answers stand further down


# --- data -----------------------------------------------------------------------------------------------------------


def choose_data():
    """→ (name, train, dev) as minibert.tasks reads them, or None while there is nothing usable."""
    names = {"reviews": _("The reviews that ship with this class"), "own": _("A file of your own")}
    return reviews() if choice("data", _("Data"), names) == "reviews" else own_file()


def reviews():
    from minibert.tasks import TASKS

    train, dev = (TASKS[KIND].read(REVIEWS / f"{part}.tsv") for part in ("train", "dev"))
    st.markdown(
        _(
            "{train} sentences to train on, {dev} to measure on; half positive, half negative. Written for this "
            "course, and marked by kind: plain, negation, contrast, irony."
        ).format(train=len(train.examples), dev=len(dev.examples))
    )
    return _("reviews"), train, dev


def own_file():
    from minibert.finetune import split_dev
    from minibert.tasks import TASKS, TaskDataError

    st.markdown(
        _(
            "A TSV or CSV file, UTF-8, with a header that names a column `sentence` or `text` and a column `label`; or "
            "lines of label, tab, text. One sentence in five is set aside to measure on."
        )
    )
    file = st.file_uploader(_("Your file"), type=["tsv", "csv", "txt"], key="file")
    if file is None:
        return None
    try:
        data = TASKS[KIND].parse(file.getvalue(), file.name)
        train, dev = split_dev(data)
    except (TaskDataError, ValueError) as error:
        st.error(literal(error), icon=":material/error:")
        return None
    if data.problems:
        with st.expander(
            ngettext("{n} line was passed over", "{n} lines were passed over", len(data.problems)).format(
                n=len(data.problems)
            ),
            icon=":material/warning:",
        ):
            st.dataframe([{_("line"): p.line, _("why"): p.why} for p in data.problems[:1000]], hide_index=True)
    if len(train.examples) > LARGEST_TRAINING_SET:
        st.info(
            _("The file has {n:,} sentences to train on; the first {most:,} are used.").format(
                n=len(train.examples), most=LARGEST_TRAINING_SET
            )
        )
        train = train.take(range(LARGEST_TRAINING_SET))
    st.dataframe(
        [{_("label"): e.label, _("text"): visible(e.text, spaces=False)} for e in data.examples[:5]], hide_index=True
    )
    counts = ", ".join(f"{literal(label)}: {data.counts[label]:,}" for label in data.labels[:20])
    st.markdown(
        _("{train:,} sentences to train on, {dev:,} to measure on. Classes: {counts}").format(
            train=len(train.examples), dev=len(dev.examples), counts=counts
        )
    )
    missing = [label for label in dev.labels if label not in train.labels]
    if missing:
        st.error(_("These classes occur too late in the file: {labels}").format(labels=literal(", ".join(missing))))
        return None
    return Path(file.name).stem[:40], train, dev


# --- settings and start ---------------------------------------------------------------------------------------------


def choose_settings() -> dict:
    starts = st.pills(
        _("Start"),
        list(start_names()),
        format_func=start_names().get,
        selection_mode="multi",
        default=list(start_names()),
        key="starts",
    )
    columns = st.columns(4, gap="medium")
    with columns[0]:
        seeds = st.slider(_("Seeds"), 1, 5, 1, key="seeds", help=_("Each seed is a run of its own."))
    with columns[1]:
        epochs = st.slider(_("Epochs"), 1, 10, 3, key="epochs")
    with columns[2]:
        st.session_state.setdefault("rate", PAPER_RATE)
        rate = st.select_slider(
            _("Learning rate"), RATES, format_func=lambda rate: f"{rate:.0e}".replace("e-0", "e-"), key="rate"
        )
    with columns[3]:
        batch = st.select_slider(_("Batch"), [8, 16, 32, 64], value=32, key="batch")
    with st.expander(_("More settings"), icon=":material/tune:"):
        left, right = st.columns([1, 2], gap="large")
        with left:
            dropout = st.slider(_("Dropout"), 0.0, 0.5, 0.1, 0.05, key="dropout")
        with right:
            poolings = {"cls": _("[CLS], as in the paper"), "mean": _("mean of all tokens")}
            pooling = st.segmented_control(
                _("What the new layer reads"), list(poolings), format_func=poolings.get, default="cls", required=True,
                key="pooling",
            )  # fmt: skip
    return {
        "starts": starts,
        "seeds": seeds,
        "epochs": epochs,
        "rate": rate,
        "batch": batch,
        "dropout": dropout,
        "pooling": pooling,
    }


def start_runs(checkpoint: Path, data, chosen: dict) -> None:
    from jobs.files import Upload
    from minibert.finetune import FinetuneSettings
    from minibert.train import Optimization

    name, train, dev = data
    batch_id = f"{KIND}/{time.time_ns()}"
    weights = Upload(checkpoint)
    for seed in range(chosen["seeds"]):
        for start in chosen["starts"]:
            settings = FinetuneSettings(
                epochs=chosen["epochs"],
                batch_size=chosen["batch"],
                pooling=chosen["pooling"],
                dropout=chosen["dropout"],
                optimization=Optimization(learning_rate=chosen["rate"]),
                seed=seed,
                from_scratch=start == "random",
                max_seconds=SECONDS_AT_MOST,
            )
            title = f"{name} · {start_names()[start]} · " + _("seed {n}").format(n=seed)
            watched = [st.session_state.get("watched", "")]
            run = submit(
                "minibert.finetune:finetune", weights, KIND, train, dev, settings,
                watch=watched, title=title, kind=batch_id,
            )  # fmt: skip
            if run is None:
                return
            st.session_state["shown"] = run.kind


def controls(checkpoint: Path | None) -> None:
    data = choose_data()
    chosen = choose_settings()
    if checkpoint is None:
        st.warning(_("There is no checkpoint to start from in `checkpoints/`."))
    ready = data is not None and bool(chosen["starts"]) and checkpoint is not None
    with st.container(horizontal=True, vertical_alignment="center"):
        count = len(chosen["starts"]) * chosen["seeds"]
        label = ngettext("Train {n} model", "Train {n} models", count).format(n=count)
        if st.button(label, type="primary", icon=":material/play_arrow:", disabled=not ready, key="train"):
            start_runs(checkpoint, data, chosen)
        st.button(
            _("Use what suits a model this small: {rate}").format(rate="3e-4"),
            key="small-rate",
            on_click=lambda: st.session_state.update(rate=SMALL_RATE),
            disabled=chosen["rate"] == SMALL_RATE,
        )
    show_refusal()


# --- runs -----------------------------------------------------------------------------------------------------------


class Shown:
    """A run as the figures need it: its events read once, its settings and dev sentences beside them."""

    def __init__(self, run):
        self.run, self.events = run, run.events()
        begun = run.latest("started")
        self.settings = begun["settings"] if begun else None
        self.details = begun["details"] if begun else {}
        self.start = ("random" if self.settings["from_scratch"] else "pretrained") if begun else None

    @property
    def seed(self) -> int:
        return self.settings["seed"]

    @property
    def name(self) -> str:
        return f"{start_names()[self.start]}, " + _("seed {n}").format(n=self.seed)

    @property
    def last_eval(self) -> dict | None:
        return self.run.latest("eval")

    def epoch(self, event: dict) -> float:
        return event["step"] / self.details["steps_per_epoch"]


def results() -> None:
    """The runs of one click, as long as they go on and afterwards."""
    runs = own_runs(KIND)
    if not runs:
        with st.container(border=True):
            st.markdown(_("**No run yet.** Press *Train*: the first point of the curves comes within seconds."))
        return
    batches = list(dict.fromkeys(run.kind for run in runs))
    if st.session_state.get("shown") not in batches:
        st.session_state["shown"] = batches[0]
    if len(batches) > 1:
        titles = {kind: batch_title([run for run in runs if run.kind == kind]) for kind in batches}
        st.selectbox(_("Runs"), batches, format_func=titles.get, key="shown")
    st.session_state["drawn"] = st.session_state["shown"]
    chosen = [run for run in runs if run.kind == st.session_state["shown"]]
    live(tuple(run.id for run in reversed(chosen)), draw)


def draw(runs: list) -> None:
    state_rows(runs, speed)
    shown = [Shown(run) for run in runs]
    shown = [one for one in shown if one.start and one.last_eval]
    if not shown:
        return
    labels = shown[0].details["labels"]
    truth = [example["label"] for example in shown[0].details["dev_examples"]]
    chance = max(truth.count(label) for label in labels) / len(truth)
    curves(shown, chance)
    own_sentence(shown, labels)
    compare_starts(shown, chance)
    if all(run.over for run in runs):
        inspect(shown, labels)


def speed(step: dict) -> str:
    return _(" · loss {loss:.3f} · {speed:,.0f} tokens/s").format(loss=step["loss"], speed=step["tokens_per_second"])


def curves(shown: list[Shown], chance: float) -> None:
    from plots.classification import Curve, learning_curves

    drawn = [Curve.of(one.start, one.seed, one.details["steps_per_epoch"], one.events) for one in shown]
    titles = (_("Training loss"), _("Dev accuracy"), _("epoch"))
    fig = learning_curves(drawn, start_names(), chance, titles)
    now = "; ".join(
        _("{name}: dev accuracy {accuracy:.1%}").format(name=one.name, accuracy=one.last_eval["metrics"]["accuracy"])
        for one in shown
    )
    figure(
        fig,
        _(
            "Training loss and dev accuracy over epochs, a line a run. Now: {now}. "
            "Dashed: always the commonest class, {chance:.1%}."
        ).format(now=now, chance=chance),
        key="curves",
        data=lambda: [
            {_("run"): one.name, _("epoch"): one.epoch(event), **event["metrics"]}
            for one in shown
            for event in one.events
            if event["event"] == "eval"
        ],
    )


def own_sentence(shown: list[Shown], labels: list[str]) -> None:
    """How the answer to the reader's sentence changes while the models learn."""
    text = st.session_state.get("watched", "")
    asked = labels[-1]
    histories, names, rows = {}, {}, []
    for one in shown:
        points = [
            (one.epoch(event), answer["probabilities"][asked])
            for event in one.events
            if event["event"] == "sample"
            for answer in event["answers"]
            if answer["text"] == text
        ]
        if not points and one.run.state == "finished" and text:
            points = [(float(one.settings["epochs"]), answer_of(one.run.id, str(one.run.result), text)[asked])]
        if points:
            histories[one.name], names[one.name] = {asked: points}, one.start
            rows.append({_("run"): one.name, f"P({asked})": points[-1][1]})
    st.markdown("### " + _("Your own sentence"))
    if not text.strip():
        st.markdown(_("Type a sentence at the top of the page, and the models say what they make of it."))
        return
    st.markdown(f"“{literal(text[:300])}”")
    if not histories:
        st.markdown(_("The answer comes with the next step."))
        return
    from plots.classification import answers_over_time

    title = _("P({label})").format(label=asked)
    now = "; ".join(f"{row[_('run')]}: {row[f'P({asked})']:.0%}" for row in rows)
    fig = answers_over_time(histories, names, title, _("epoch"))
    alt = _("Probability that the sentence is {label}, over epochs. Now: {now}.").format(label=asked, now=now)
    figure(fig, alt, key="answers", data=rows)


@st.cache_resource(show_spinner=False, max_entries=6)
def classifier_of(run_id: str, directory: str):
    from minibert.finetune import Predictor

    return Predictor.from_directory(directory)


@st.cache_data(show_spinner=False, max_entries=500)
def answer_of(run_id: str, directory: str, text: str) -> dict[str, float]:
    """The finished model's probabilities, by label."""
    return classifier_of(run_id, directory).predict([text])[0]["probabilities"]


def compare_starts(shown: list[Shown], chance: float) -> None:
    """Both starts, seed by seed: mean and spread, whatever comes out."""
    finals: dict[str, list[float]] = {}
    for one in shown:
        if one.run.state == "finished":
            finals.setdefault(one.start, []).append(one.run.latest("done")["metrics"]["accuracy"])
    if not finals or sum(map(len, finals.values())) < 2:
        return
    st.markdown("### " + _("Pre-trained beside random weights"))
    rows = [
        {
            _("start"): start_names()[start],
            _("runs"): len(values),
            _("mean dev accuracy"): f"{statistics.fmean(values):.1%}",
            _("standard deviation"): f"{100 * statistics.stdev(values):.1f}" if len(values) > 1 else "–",
        }
        for start, values in finals.items()
    ]
    st.table(rows)
    from plots.classification import comparison

    summary = "; ".join(f"{row[_('start')]}: {row[_('mean dev accuracy')]}" for row in rows)
    alt = _("Final dev accuracy of every run, with mean and standard deviation by start. {summary}.").format(
        summary=summary
    )
    figure(comparison(finals, start_names(), chance, _("dev accuracy")), alt, key="comparison", data=rows)


def inspect(shown: list[Shown], labels: list[str]) -> None:
    """What one run gets right and wrong."""
    names = {one.run.id: one.name for one in shown}
    st.markdown("### " + _("Right and wrong"))
    picked = st.selectbox(_("Run"), list(names), format_func=names.get, key="inspected")
    one = next(one for one in shown if one.run.id == picked)
    details = one.last_eval["details"]
    left, right = st.columns([2, 3], gap="large")
    with left:
        from plots.classification import confusion

        fig = confusion(details["confusion"], labels, (_("answer"), _("truth")))
        right_ones = sum(details["confusion"][i][i] for i in range(len(labels)))
        total = sum(map(sum, details["confusion"]))
        alt = _("Confusion matrix: {right} of {total} right.").format(right=right_ones, total=total)
        rows = [
            {_("truth"): labels[i], **dict(zip(labels, row, strict=True))} for i, row in enumerate(details["confusion"])
        ]
        figure(fig, alt, key="confusion", data=rows)
    with right:
        by_kind(shown)
    mistakes(one, labels)
    take_away(one)


def outcomes(one: Shown, labels: list[str]) -> list[tuple[dict, str, float, bool]]:
    """Each dev example with the answer, its probability, and whether it is right."""
    rows = []
    for example, said in zip(one.details["dev_examples"], one.last_eval["details"]["predictions"], strict=True):
        answer = said["label"]
        rows.append((example, answer, said["probabilities"][answer], answer == example["label"]))
    return rows


def by_kind(shown: list[Shown]) -> None:
    shares: dict[str, dict[str, list[float]]] = {}
    for one in shown:
        kinds: dict[str, list[bool]] = {}
        for example, _answer, _p, correct in outcomes(one, one.details["labels"]):
            if kind := example["extra"].get("kind"):
                kinds.setdefault(kind, []).append(correct)
        for kind, hits in kinds.items():
            shares.setdefault(one.start, {}).setdefault(kind, []).append(statistics.fmean(hits))
    if not shares:
        return
    from plots.classification import accuracy_by_kind

    words = {
        "plain": _("plain"),
        "negation": _("negation"),
        "contrast": _("contrast"),
        "irony": _("irony"),
    }
    order = [*words, *dict.fromkeys(kind for kinds in shares.values() for kind in kinds if kind not in words)]
    named = {start: {words.get(k, k): kinds[k] for k in order if k in kinds} for start, kinds in shares.items()}
    rows = [
        {_("start"): start_names()[start], _("kind"): kind, _("accuracy"): statistics.fmean(values)}
        for start, kinds in named.items()
        for kind, values in kinds.items()
    ]
    alt = _("Dev accuracy by kind of review. {rows}.").format(
        rows="; ".join(f"{r[_('start')]}, {r[_('kind')]}: {r[_('accuracy')]:.0%}" for r in rows)
    )
    figure(accuracy_by_kind(named, start_names(), _("accuracy")), alt, key="kinds", data=rows)


def mistakes(one: Shown, labels: list[str]) -> None:
    wrong = sorted((row for row in outcomes(one, labels) if not row[3]), key=lambda row: -row[2])
    st.markdown(
        "**"
        + ngettext("{n} sentence answered wrongly", "{n} sentences answered wrongly", len(wrong)).format(n=len(wrong))
        + "**"
        + (_(", the surest mistakes first:") if wrong else "")
    )
    rows = [
        {
            _("sentence"): visible(example["text"], spaces=False),
            _("truth"): example["label"],
            _("answer"): answer,
            _("sure"): f"{probability:.0%}",
            **({_("kind"): example["extra"]["kind"]} if "kind" in example["extra"] else {}),
        }
        for example, answer, probability, _right in wrong
    ]
    if rows:
        st.table(rows[:MISTAKES])
    if len(rows) > MISTAKES:
        with st.expander(_("All {n}").format(n=len(rows))):
            st.dataframe(rows, hide_index=True)


def take_away(one: Shown) -> None:
    if not one.run.files:
        return
    st.download_button(
        _("Download this model"), lambda: zipped(one.run.files), file_name="my-classifier.zip", mime="application/zip",
        icon=":material/download:", key=f"download-{one.run.id}", on_click="ignore",
    )  # fmt: skip
    st.code(
        'unzip my-classifier.zip -d my-classifier\npython -m minibert predict --model my-classifier "your sentence"',
        "bash",
    )


# --- the page -------------------------------------------------------------------------------------------------------

lesson.show_title()
manager().warm_up()
starts = {info.name: info.directory for info in available_models(fill=True, trained=True)}
lesson.show("What is added")
model = model_choice(fill=True, trained=True, label=_("The pre-trained model")) if starts else UNTRAINED
one_example(model)
lesson.show("What the pre-trained weights bring")
lesson.show("Train it")
controls(starts.get(model))
results()
lesson.show("How much to believe")
lesson.show("Where it fails")
lesson.quiz()
next_lesson("classification")
