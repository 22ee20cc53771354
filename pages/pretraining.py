"""Pre-training: choose a text, train live, stop and resume, look back at every kept step, keep the model."""

import json
import math
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import streamlit as st

from ui.figures import figure
from ui.inputs import choice, distinct, pick, sentence_input
from ui.lesson import TEXT_WIDTH, Lesson, course_prose, course_reviews
from ui.models import about, available_models, load
from ui.navigation import link_to, next_lesson
from ui.runs import (
    PRETRAINING,
    complete,
    live,
    manager,
    note_refusal,
    own_models,
    own_runs,
    settled,
    show_refusal,
    state_rows,
    submit,
    zipped,
)
from ui.source import show_source
from ui.state import follow_link, set_url, url_int
from ui.text import literal, show_tokens, visible
from ui.translations import _, ngettext

# What imports torch or plotly is imported where it is first needed: the page shows before that.

# The values of minibert.toy.pretrain.TOY and minibert.pretrain.LOG (tests hold them equal), here so that the page need
# not import them to open.
SECONDS, STEPS = 60, 1_000
RATE, MASKED = 5e-3, 35
LOG = "training.jsonl"
RATES = [1e-4, 3e-4, 5e-4, 1e-3, 2e-3, 3e-3, RATE, 1e-2, 2e-2]
SIZES = ("tiny", "mini", "small")
SECONDS_AT_MOST, STEPS_AT_MOST = 900, 5_000  # one run may not hold a place for ever
LARGEST_TEXT = 5_000_000  # bytes: what is larger belongs on the command line
HELD_OUT = 10  # every tenth document is kept apart to measure on
PIECES = 2_000
MAX_NAME = 60
MOST_COMPARED = 5
MAX_TOKENS = 20  # of the sentence looked back at: more cannot be told apart from the back row
MAX_WORDS = 24
PAIRS = ("nsp", "sop")  # questions about two segments
TOY_WORDS = "anna lucy nora ben jack omar she he her his tired happy sad lunch soup pie red blue green"
WORDS = "king queen man woman boy girl he she one two three four london paris france river sea good bad"

lesson = Lesson("pretraining")

st.html("""<style>
.stPlotlyChart :is([class$="tick"], .textpoint) text,
.stPlotlyChart :is(.annotation-text, .bartext-outside, [class$="title"]) { fill: currentColor !important; }
</style>""")


# --- the text -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """What a run is trained on: documents to learn from and documents to measure on; a toy `world` makes its own."""

    name: str
    train: list[list[str]] | None = None
    dev: list[list[str]] | None = None
    world: str | None = None


def choose_text(pairs: bool) -> Text | None:
    """The text to train on, or None while there is nothing usable. pairs: next sentences are asked for too."""
    names = {"toy": _("The toy world"), "course": _("The text of this course"), "own": _("A file of your own")}
    match choice("data", _("Text"), names):
        case "toy":
            worlds = {"small": _("nine kinds of scenes"), "whole": _("all nineteen")}
            world = choice("world", _("Scenes"), worlds)
            toy_story(world)
            return Text(_("toy world") if world == "small" else _("whole toy world"), world=world)
        case "course":
            return course_text(pairs)
        case _other:
            return own_text(pairs)


@st.fragment
def toy_story(world: str) -> None:
    """A story of the toy world, with the words that the others determine."""
    from minibert.toy.world import KINDS, generate

    if follow_link("story") or "story" not in st.session_state:
        st.session_state["story"] = url_int("story", 3, 0, 999_999)
    number = st.session_state["story"]
    story = generate(number, world=world)
    words = story.words
    asked = [word for word in words if word.kind is not None]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(
            _("One of endlessly many stories. **{n} of its {total} words** follow from the others:").format(
                n=len(asked), total=len(words)
            ),
            width="content",
        )
        st.button(
            _("Another story"),
            key="another-story",
            icon=":material/casino:",
            on_click=lambda: st.session_state.update(story=(number + 1) % 1_000_000),
        )
    set_url("story", number, default=3)
    show_tokens(
        [word.text for word in words],
        kinds=["changed" if word.kind else "plain" for word in words],
        under=["← " + ", ".join(words[i].text for i in word.determined_by) if word.kind else "" for word in words],
        titles=[toy_kinds().get(word.kind, "") for word in words],
        label=_("A story; under a determined word, what determines it"),
    )
    counts = {kind: sum(word.kind == kind for word in asked) for kind in KINDS}
    with st.expander(_("What determines a word"), icon=":material/help:"):
        st.table(
            [{_("kind"): kind, _("here"): counts[kind], _("because"): what} for kind, what in toy_kinds().items()],
            border="horizontal",
        )


def toy_kinds() -> dict[str, str]:
    from minibert.toy.world import KINDS

    return {kind: _(what) for kind, what in KINDS.items()}


def course_text(pairs: bool) -> Text:
    from minibert.text.documents import held_apart

    prose, reviews = course_prose(), [[text] for text in course_reviews("train")]
    documents = prose if pairs else prose + reviews
    told = _("{sections} sections of the lessons, {words:,} words").format(
        sections=len(prose), words=sum(len(line.split()) for document in prose for line in document)
    )
    if pairs:
        told += _("; the reviews are left out, since a single sentence has no next one")
    else:
        told += _(" and {reviews} reviews, {words:,} words").format(
            reviews=len(reviews), words=sum(len(line.split()) for document in reviews for line in document)
        )
    st.markdown(told + ". " + lesson.section("What so little text can teach")[1], width=TEXT_WIDTH)
    return Text(_("course text"), *held_apart(documents, HELD_OUT))


def own_text(pairs: bool) -> Text | None:
    from minibert.text.documents import DataError, held_apart, read_documents

    st.markdown(
        _(
            "Plain text, UTF-8, with an empty line between documents (chapters, articles …). Every tenth document is "
            "kept apart to measure on. At most {most} MB; for more there is `python -m minibert pretrain`."
        ).format(most=LARGEST_TEXT // 1_000_000)
    )
    file = st.file_uploader(_("Your file"), type=["txt"], key="file")
    if file is None:
        return None
    if file.size > LARGEST_TEXT:
        refuse(_("{name} has {size:.1f} MB; this page takes {most} MB.").format(
            name=literal(file.name), size=file.size / 1e6, most=LARGEST_TEXT // 1_000_000
        ))  # fmt: skip
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        path.write_bytes(file.getvalue())
        try:
            documents = list(read_documents([path]))
        except DataError as error:
            refuse(literal(str(error).replace(str(path), file.name)))
            return None
    words = sum(len(line.split()) for document in documents for line in document)
    st.markdown(
        ngettext("{n:,} document, {words:,} words.", "{n:,} documents, {words:,} words.", len(documents)).format(
            n=len(documents), words=words
        )
        + " "
        + lesson.section("What so little text can teach")[1],
        width=TEXT_WIDTH,
    )
    train, dev = held_apart(documents, HELD_OUT)
    if pairs and len(train) < 2:
        refuse(
            _("Next sentences need at least two documents: half of them are taken from another one. Put empty lines "
              "between documents, or switch next sentences off.")
        )  # fmt: skip
        return None
    if not dev:
        st.info(_("With fewer than {n} documents none is kept apart to measure on.").format(n=HELD_OUT))
    st.dataframe(
        [{_("first line of a document"): visible(document[0][:200], spaces=False)} for document in documents[:5]],
        hide_index=True,
    )
    return Text(Path(file.name).stem[:40], train, dev)


def refuse(reason: str) -> None:
    st.error(reason, icon=":material/error:")


# --- settings and start ---------------------------------------------------------------------------------------------


def sizes() -> dict[str, str]:
    from minibert.config import PRESETS

    return {name: _("{name}: L {l}, H {h}, A {a}").format(name=name, **dict(zip("lha", PRESETS[name], strict=True)))
            for name in SIZES}  # fmt: skip


def choose_settings() -> dict:
    """What the widgets say; all of it is in the link."""
    chosen = {"preset": choice("size", _("Size"), sizes())}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        budget = choice("budget", _("Train for"), {"seconds": _("seconds"), "steps": _("steps")})
        look = {"bind": "query-params", "width": 420}
        if budget == "seconds":
            seconds = st.slider(_("Seconds of training"), 10, SECONDS_AT_MOST, SECONDS, 10, key="seconds", **look)
            chosen |= {"minutes": seconds / 60, "steps": None}
        else:
            steps = st.slider(_("Steps"), 50, STEPS_AT_MOST, STEPS, 50, key="steps", **look)
            chosen |= {"minutes": None, "steps": steps}
    with st.expander(_("More settings"), icon=":material/tune:"):
        columns = st.columns(3, gap="large")
        with columns[0]:
            chosen["optimizer"] = choice("optimizer", _("Optimizer"), {"muon": "Muon", "adamw": "AdamW"})
            chosen["rate"] = st.select_slider(
                _("Learning rate"), RATES, value=RATE, format_func=lambda rate: f"{rate:g}", key="rate",
                bind="query-params", help=_("The highest: it rises to this value, then falls to zero."),
            )  # fmt: skip
            chosen["seed"] = st.number_input(_("Seed"), 0, 999_999, 0, key="seed", bind="query-params", width=150) or 0
        with columns[1]:
            chosen["masked"] = st.slider(
                _("Tokens hidden"), 5, 60, MASKED, 5, format="%d %%", key="masked", bind="query-params",
                help=_("The paper hides 15 %. Hiding more asks more questions a text, which pays in a short run."),
            )  # fmt: skip
            if st.session_state.get("data", "toy") != "toy":
                chosen["pieces"] = st.slider(
                    _("Vocabulary"), 500, 8_000, PIECES, 500, key="pieces", bind="query-params",
                    help=_("Pieces to learn from the text; a short text has fewer."),
                )  # fmt: skip
        with columns[2]:
            chosen["start"] = choice(
                "start", _("Token embeddings start from"), {"counts": _("counts"), "random": _("random numbers")}
            )
            chosen["pairs"] = st.toggle(_("Next sentences too"), key="pairs", bind="query-params")
            if chosen["pairs"]:
                chosen["nsp"] = st.slider(_("Weight of their loss"), 0.1, 2.0, 1.0, 0.1, key="nsp", bind="query-params")
    return chosen


def settings_of(chosen: dict, toy: bool):
    """The page's choices over the defaults that suit a run of a minute."""
    from dataclasses import replace

    from minibert.toy.pretrain import TOY

    return replace(
        TOY,
        preset=chosen["preset"],
        minutes=chosen["minutes"],
        steps=chosen["steps"],
        vocab_size=chosen.get("pieces", TOY.vocab_size),
        input_format="segment_pair" if chosen["pairs"] else TOY.input_format if toy else "full_sentences",
        nsp_weight=chosen.get("nsp", TOY.nsp_weight),
        start=chosen["start"],
        seed=int(chosen["seed"]),
        masking=replace(TOY.masking, rate=chosen["masked"] / 100),
        optimization=replace(TOY.optimization, learning_rate=chosen["rate"], optimizer=chosen["optimizer"]),
    )


def controls() -> None:
    pairs = bool(st.session_state.get("pairs", st.query_params.get("pairs") == "true"))
    text = choose_text(pairs)
    chosen = choose_settings()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pressed = st.button(
            _("Train"), type="primary", icon=":material/play_arrow:", disabled=text is None, key="train"
        )
        name = st.text_input(
            _("Name of the run"), key="name", max_chars=MAX_NAME, width=360,
            placeholder=default_name(text, chosen) if text else "",
        )  # fmt: skip
    if pressed and text is not None:
        start(text, chosen, name.strip() or default_name(text, chosen))
    show_refusal()


def default_name(text: Text, chosen: dict) -> str:
    return f"{text.name}, {chosen['preset']}"


def start(text: Text, chosen: dict, name: str) -> None:
    taken = {training.name for training in own_trainings()}
    if name in taken:
        name = next(f"{name} ({n})" for n in range(2, len(taken) + 3) if f"{name} ({n})" not in taken)
    files = {} if text.world else {"train.txt": as_file(text.train), "dev.txt": as_file(text.dev)}
    settings = settings_of(chosen, toy=text.world is not None)
    begin(settings, files, f"{PRETRAINING}/{time.time_ns()}", name, world=text.world)


def as_file(documents: list[list[str]]) -> bytes:
    return "\n\n".join("\n".join(document) for document in documents).encode()


def begin(
    settings, files: dict[str, bytes], kind: str, name: str, *, world: str | None = None, going_on: Path | None = None
) -> None:
    """Queue a run, on a toy `world` or on `files`, which are kept beside it for the case that it is stopped and
    resumed."""
    from jobs.files import Upload, unpack

    options = {"watch": [st.session_state.get("watched", "")], "title": name, "kind": kind}
    if going_on is not None:
        options["going_on"] = Upload(going_on)
    try:
        if not files:
            run = submit("minibert.toy.pretrain:pretrain_toy", settings, world=world, **options)
        else:
            with tempfile.TemporaryDirectory() as folder:
                texts = unpack(files, Path(folder, "text"))
                parts = {
                    part: [Upload(texts / f"{part}.txt")] if files[f"{part}.txt"] else [] for part in ("train", "dev")
                }
            run = submit("minibert.pretrain:pretrain", settings, parts["train"], dev=parts["dev"], **options)
            if run is not None:
                unpack(files, run.directory / "text")
    except OSError as error:
        note_refusal(error)
        return
    if run is not None:
        st.session_state["shown"] = [kind]


# --- runs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Training:
    """A pre-training as the page shows it: a run, or the several it took when it was stopped and resumed, oldest first;
    or a checkpoint that ships, of which only the log is left."""

    key: str
    name: str
    runs: tuple = ()
    directory: Path | None = None  # of the model, if there is one

    @cached_property
    def events(self) -> list[dict]:
        events = [event for run in self.runs for event in run.events()]
        if self.directory and not any(event["event"] == "started" for event in events):
            since = self.kept.created if self.runs else math.inf  # its first part is gone, a later one may go on
            later = [event for run in self.runs if run.created > since for event in run.events()]
            return [*logged(self.directory), *later] or events
        return events

    @cached_property
    def begun(self) -> dict | None:
        return self.latest("started")

    def latest(self, kind: str) -> dict | None:
        return next((event for event in reversed(self.events) if event["event"] == kind), None)

    @property
    def settings(self) -> dict:
        return self.begun["settings"] if self.begun else {}

    @property
    def vocab_size(self) -> int | None:
        if self.begun:
            return self.begun["details"].get("vocab_size")
        return json.loads((self.directory / "config.json").read_text())["vocab_size"] if self.directory else None

    @property
    def toy(self) -> bool:
        return bool(self.runs) and self.runs[0].target.endswith("pretrain_toy")

    @property
    def resumed_from(self) -> Any:
        """The last run that has left what going on takes: a later one may have ended before it could."""
        return next((run for run in reversed(self.runs) if (run.result / "resume").is_dir()), None)

    @property
    def resumable(self) -> bool:
        run = self.runs[-1]
        return settled(run) and run.state != "finished" and self.resumed_from is not None and bool(self.settings)

    @property
    def kept(self) -> Any:
        """The last run that has left a whole model."""
        return next((run for run in reversed(self.runs) if complete(run.result)), None)


@st.cache_data(show_spinner=False, max_entries=8)
def read_log(path: Path, version: int) -> list[dict]:
    with open(path, encoding="utf-8") as lines:  # not splitlines(): a text may hold characters that it takes for ends
        return [json.loads(line) for line in lines]


def logged(directory: Path) -> list[dict]:
    """The events a finished pre-training has left beside its model."""
    path = directory / LOG
    return read_log(path, path.stat().st_mtime_ns) if path.is_file() else []


def trainings_of(runs: Sequence) -> list[Training]:
    """Runs, newest first, put together by pre-training, newest first."""
    kinds = list(dict.fromkeys(run.kind for run in runs))
    groups = {kind: tuple(run for run in reversed(runs) if run.kind == kind) for kind in kinds}
    trainings = [Training(kind, group[-1].title, group) for kind, group in groups.items()]
    return [replace(one, directory=one.kept.result) if one.kept else one for one in trainings]


def own_trainings() -> list[Training]:
    return trainings_of(own_runs(PRETRAINING))


def shipped_trainings() -> list[Training]:
    runs = {run.id for run in own_models()}
    return [
        Training(info.name, _("{name}, shipped").format(name=info.title), (), info.directory)
        for info in available_models(fill=True)
        if info.directory and info.name not in runs and (info.directory / LOG).is_file()
    ]


def resume(training: Training) -> None:
    from minibert.pretrain import PretrainSettings

    run = training.resumed_from
    text = run.directory / "text"
    files = {path.name: path.read_bytes() for path in text.iterdir()} if text.is_dir() else {}
    world = training.begun["details"].get("world")
    settings = PretrainSettings.from_dict(training.settings)
    begin(settings, files, training.key, training.name, world=world, going_on=run.result)


@st.fragment
def own_sentence() -> None:
    """The sentence that models which are being trained answer."""
    toy = st.session_state.get("data", "toy") == "toy"
    toys, others = examples()
    text = sentence_input(
        "cloze" if toy else "ask",
        toys if toy else others,
        label=_("A sentence with a [MASK], answered while it trains"),
        max_chars=500,
    )
    before = st.session_state.get("watched")
    st.session_state["watched"] = text
    if "[MASK]" not in text:
        st.info(_("Write `[MASK]` where a word is to be guessed."), icon=":material/edit:")
    elif toy and (strange := unknown_words(text)):
        st.caption(
            _("The toy world has no {words}: the model reads [UNK] there.").format(
                words=", ".join(f"“{literal(word)}”" for word in strange[:8])
            )
        )
    if text != before:
        for training in own_trainings():
            if not training.runs[-1].over:
                training.runs[-1].send([text])


@st.cache_data(show_spinner=False)
def toy_vocabulary() -> list[str]:
    from minibert.toy.world import vocabulary

    return vocabulary()


def unknown_words(text: str) -> list[str]:
    known = set(toy_vocabulary())
    return [word for word in re.findall(r"\w+|[^\w\s]", text.lower().replace("[mask]", " ")) if word not in known]


def examples() -> tuple[list[str], list[str]]:
    """The lesson's sentences that the toy world can read, and the others."""
    toy = [text for text in lesson.examples if not unknown_words(text)]
    return toy, [text for text in lesson.examples if text not in toy]


def results() -> None:
    """The runs chosen to be shown, as long as they go on and afterwards."""
    own = own_trainings()
    everything = {training.key: training for training in (*own, *shipped_trainings())}
    if not own:
        with st.container(border=True):
            st.markdown(_("**No run yet.** Press *Train*: the first point of the curves comes within seconds."))
    elif len(everything) > 1:
        shown = [key for key in st.session_state.get("shown", []) if key in everything]
        st.session_state["shown"] = shown or [own[0].key]
        st.multiselect(
            _("Runs side by side"),
            list(everything),
            format_func=distinct({key: visible(one.name, spaces=False) for key, one in everything.items()}).get,
            key="shown",
            max_selections=MOST_COMPARED,
        )
    keys = st.session_state.get("shown") or [training.key for training in own[:1]]
    chosen = {training.key for training in own if training.key in keys or not settled(training.runs[-1])}
    beside = [everything[key] for key in keys if key in everything and not everything[key].runs]
    ids = tuple(run.id for training in own if training.key in chosen for run in reversed(training.runs))
    if not ids and not beside:
        return

    def rows(runs: list) -> None:
        trainings = trainings_of(runs)
        last = [training.runs[-1] for training in trainings]
        state_rows(last, speed, actions=lambda run: offer_resume(run, trainings))
        preparing(trainings)

    def draw(runs: list) -> None:
        trainings = trainings_of(runs)
        shown = [training for training in trainings if training.key in keys] + beside
        shown = [training for training in shown if training.latest("step") or training.latest("eval")]
        if shown:
            numbers(shown[0])
            curves(shown)
            answers_so_far(shown[0])
            kinds(shown)
            compare(shown)

    live(ids, draw, rows)


def speed(step: dict) -> str:
    left = step["seconds"] * (1 / step["progress"] - 1) if step["progress"] else 0
    return _(" · step {step:,} · {speed:,.0f} tokens/s · {left:.0f} s left").format(
        step=step["step"], speed=step["tokens_per_second"], left=left
    )


def offer_resume(run, trainings: list[Training]) -> None:
    training = next(training for training in trainings if training.runs[-1] is run)
    if training.resumable:
        st.button(_("Resume"), key=f"resume-{run.id}", icon=":material/resume:", on_click=resume, args=(training,))


def preparing(trainings: list[Training]) -> None:
    """What a run does before its first step."""
    words = {
        "writing stories": _("writing the stories"),
        "learning a vocabulary": _("learning a vocabulary from the text"),
        "tokenizing": _("cutting the text into tokens"),
        "counting": _("counting which tokens stand near each other"),
    }
    for training in trainings:
        event = training.runs[-1].latest("preparing")
        if event and not training.latest("step") and not training.runs[-1].over:
            st.caption(f"{literal(training.name)}: {words.get(event['what'], literal(event['what']))} …")


def numbers(training: Training) -> None:
    """Where one run stands, each number beside the one it is to be held against."""
    step, measured = training.latest("step"), (training.latest("eval") or {}).get("metrics", {})
    tiles = []
    if "determined" in measured:
        share = _("{share:.0%} by the neighbours").format(share=measured["guessable_from_neighbours"])
        tiles.append((_("Determined words right"), f"{measured['determined']:.1%}", share))
    if step:
        parts, names = step["parts"], question_names()
        bound = f"ln V = {math.log(training.vocab_size):.2f}" if training.vocab_size else ""
        main = main_question([training])
        tiles.append((_("{kind} loss").format(kind=names[main]), f"{parts[f'{main}_loss']:.2f}", bound))
        for kind, name in names.items():
            if f"{kind}_accuracy" in parts:
                beside = _("of hidden tokens") if kind == "mlm" else _("of tokens")
                if kind in PAIRS:
                    beside = _("loss {loss:.2f}").format(loss=parts[f"{kind}_loss"])
                tiles.append((_("{kind} accuracy").format(kind=name), f"{parts[f'{kind}_accuracy']:.1%}", beside))
        tiles.append((_("Tokens read"), f"{step['tokens']:,}", f"{step['tokens_per_second']:,.0f}/s"))
        tiles.append(
            (_("Learning rate"), f"{step['lr']:.1e}".replace("e-0", "e-"), _("step {n:,}").format(n=step["step"]))
        )
    with st.container(horizontal=True, gap="medium", key="numbers"):
        for name, value, beside in tiles:
            st.metric(name, value, beside or None, delta_color="off", delta_arrow="off", width="content")


def question_names() -> dict[str, str]:
    """Kinds of questions (minibert.objectives) in the learner's words."""
    return {"mlm": "MLM", "next_token": _("Next token"), "nsp": "NSP", "sop": _("Sentence order")}


def main_question(shown: list[Training]) -> str:
    """What is asked of every token: "mlm", unless all of these are left-to-right models."""
    asked = {name for one in shown if (step := one.latest("step")) for name in step["parts"]}
    return "next_token" if "next_token_loss" in asked and "mlm_loss" not in asked else "mlm"


def axes() -> dict[str, str]:
    return {"step": _("steps"), "seconds": _("seconds"), "tokens": _("tokens")}


def curves(shown: list[Training]) -> None:
    from plots.pretraining import History, Panel, learning_curves

    histories = [History.of(training.name, training.events) for training in shown]
    quantities = {quantity for history in histories for quantity in history.points}
    measured = next((one.latest("eval")["metrics"] for one in shown if one.toy and one.latest("eval")), {})
    bounds = {f"ln V = {math.log(one.vocab_size):.2f}": math.log(one.vocab_size) for one in shown if one.vocab_size}
    main, names = main_question(shown), question_names()
    loss = f"{main}_loss"
    title = _("{kind} loss; with marks: on text kept apart") if f"held out: {loss}" in quantities else _("{kind} loss")
    panels = [Panel(title.format(kind=names[main]), loss, f"held out: {loss}", bounds)]
    if measured:
        title = _("Determined ({share:.0%} without context)").format(share=measured["guessable"])
        neighbours = measured["guessable_from_neighbours"]
        guessed = {_("from the two neighbours: {share:.0%}").format(share=neighbours): neighbours}
        panels.append(Panel(title, None, "held out: determined", guessed, percent=True))
    for kind, name in names.items():
        if kind in PAIRS and f"{kind}_loss" in quantities:
            guessing = {f"ln 2 = {math.log(2):.2f}": math.log(2)}
            panels.append(Panel(_("{kind} loss").format(kind=name), f"{kind}_loss", None, guessing))
        if f"{kind}_accuracy" in quantities:
            right = f"{kind}_accuracy"
            panels.append(Panel(_("{kind} accuracy").format(kind=name), right, f"held out: {right}", percent=True))
    panels += [Panel(_("Learning rate"), "lr"), Panel(_("Tokens per second"), "tokens_per_second")]
    axis = choice("axis", _("Across"), axes())
    now = "; ".join(
        _("{name}: {kind} loss {loss:.2f} after {steps:,} steps").format(
            name=one.name, kind=names[main], loss=history.last(loss), steps=one.latest("step")["step"]
        )
        for one, history in zip(shown, histories, strict=True)
        if history.last(loss) is not None
    )
    figure(
        learning_curves(histories, panels, axis, axes()[axis]),
        _("Curves of pre-training over {axis}, a colour a run. Now: {now}.").format(axis=axes()[axis], now=now),
        "curves",
        data=lambda: [
            {
                _("run"): one.name,
                **{name: event[name] for name in ("step", "seconds", "tokens", "lr", "loss")},
                **event["parts"],
            }
            for one in shown
            for event in one.events
            if event["event"] == "step"
        ],
    )


def answers_so_far(training: Training) -> None:
    """The first guesses at the reader's sentence, from measurement to measurement."""
    text = st.session_state.get("watched", "")
    samples = [
        (event["step"], answer["blanks"])
        for event in training.events
        if event["event"] == "sample"
        for answer in event["answers"]
        if answer["text"] == text and answer["blanks"]
    ]
    if not samples:
        return
    st.markdown(
        _("**“{text}”** – what *{name}* put at the first blank, surest first:").format(
            text=literal(text), name=literal(training.name)
        )
    )
    rows = [
        {
            _("step"): f"{step:,}",
            **{
                str(place): f"{literal(token)} {probability:.0%}"
                for place, (token, probability) in enumerate(blanks[0], 1)
            },
        }
        for step, blanks in thinned(samples, 8)
    ]
    with st.container(key="answers"):
        st.table(rows, border="horizontal")


def thinned(rows: list, most: int) -> list:
    """At most so many rows, evenly spread, the first and the last among them."""
    if len(rows) <= most:
        return rows
    return [rows[round(i * (len(rows) - 1) / (most - 1))] for i in range(most)]


def kinds(shown: list[Training]) -> None:
    from plots.pretraining import right_by_kind

    shares = {}
    for one in shown:
        metrics = (one.latest("eval") or {}).get("metrics", {})
        if by_kind := {name.split(".")[1]: share for name, share in metrics.items() if name.startswith("determined.")}:
            shares[one.name] = by_kind
    if not shares:
        return
    with st.expander(_("Which determined words are learned first?"), icon=":material/sort:"):
        first = next(iter(shares.values()))
        told = ", ".join(f"{kind} {share:.0%}" for kind, share in sorted(first.items(), key=lambda item: -item[1]))
        figure(
            right_by_kind(shares, _("right, on stories never trained on")),
            _("Share of determined words right, by what determines them: {told}.").format(told=told),
            "kinds",
            data=[{_("run"): name, **by_kind} for name, by_kind in shares.items()],
        )


def compare(shown: list[Training]) -> None:
    """What differs between the runs, and what came out."""
    if len(shown) < 2:
        return
    older = {"optimization.optimizer": "adamw", "relative": "bert"}  # runs that name none
    flat = [older | flattened(one.settings) for one in shown]
    names = [name for name in dict.fromkeys(name for values in flat for name in values)
             if len({json.dumps(values.get(name)) for values in flat}) > 1]  # fmt: skip
    words, main = setting_names(), main_question(shown)
    rows = []
    for one, values in zip(shown, flat, strict=True):
        step, metrics = one.latest("step"), (one.latest("eval") or {}).get("metrics", {})
        row = {_("run"): literal(one.name)}
        row |= {words.get(name, name): "–" if values.get(name) is None else f"{values[name]}" for name in names}
        row |= (
            {
                _("steps"): f"{step['step']:,}",
                _("tokens"): f"{step['tokens']:,}",
                _("seconds"): f"{step['seconds']:.0f}",
            }
            if step
            else {}
        )
        loss = step["parts"].get(f"{main}_loss") if step else None  # not that of a model which is asked otherwise
        row[_("{kind} loss").format(kind=question_names()[main])] = "–" if loss is None else f"{loss:.2f}"
        row[_("determined words")] = f"{metrics['determined']:.1%}" if "determined" in metrics else "–"
        row[_("loss on text kept apart")] = f"{metrics[f'{main}_loss']:.2f}" if f"{main}_loss" in metrics else "–"
        rows.append(row)
    st.markdown("### " + _("Side by side"))
    with st.container(key="comparison"):
        told = [name for name in rows[0] if any(row.get(name, "–") != "–" for row in rows)]
        st.table([{name: row.get(name, "–") for name in told} for row in rows], border="horizontal")


def setting_names() -> dict[str, str]:
    return {
        "relative": _("relative of BERT"),
        "preset": _("size"),
        "minutes": _("minutes"),
        "steps": _("step budget"),
        "vocab_size": _("vocabulary asked for"),
        "input_format": _("input"),
        "nsp_weight": _("NSP weight"),
        "start": _("start"),
        "seed": _("seed"),
        "masking.rate": _("hidden"),
        "optimization.optimizer": _("optimizer"),
        "optimization.learning_rate": _("learning rate"),
    }


def flattened(settings: dict) -> dict:
    """Nested settings with dotted names."""
    flat = {}
    for name, value in settings.items():
        flat |= {f"{name}.{k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
    return flat


# --- looking back ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Past:
    """A model with its kept steps, oldest first; the last is the model itself, whose path is None."""

    name: str
    title: str
    directory: Path
    steps: tuple[tuple[str, Path | None], ...]  # the step's number in words, and the file


def pasts() -> list[Past]:
    from minibert.training.snapshots import listed

    found_ones = []
    for info in available_models(fill=True):
        if info.directory is None:
            continue
        kept = listed(info.directory)
        if kept:
            last = next((event["step"] for event in reversed(logged(info.directory)) if event["event"] == "step"), None)
            steps = [(f"{one.step:,}", one.path) for one in kept]
            end = (_("the end") if last is None else f"{last:,}", None)
            found_ones.append(Past(info.name, info.title, info.directory, (*steps, end)))
    own = {run.id: i for i, run in enumerate(own_models())}
    return sorted(found_ones, key=lambda past: own.get(past.name, len(own)))  # the newest run first


@dataclass(frozen=True)
class Moment:
    """One kept step of a model; `version` changes when the model is replaced."""

    directory: Path
    path: Path | None
    version: int


def moments(past: Past) -> list[Moment]:
    version = (past.directory / "model.safetensors").stat().st_mtime_ns
    return [Moment(past.directory, path, version) for _label, path in past.steps]


@st.cache_resource(show_spinner=False, max_entries=10)
def model_at(moment: Moment):
    """The model as it was then; shared by all sessions, never changed."""
    from minibert import checkpoint
    from minibert.model import BertForPreTraining
    from minibert.training import snapshots

    if moment.path is None:
        return checkpoint.load(moment.directory, kind=BertForPreTraining)
    kept = next(one for one in snapshots.listed(moment.directory) if one.path == moment.path)
    return snapshots.load(moment.directory, kept)


@st.cache_data(show_spinner=False, max_entries=400)
def expected_at(moment: Moment, ids: tuple[int, ...], place: int):
    """The probabilities over the vocabulary at one place, (V,)."""
    from minibert.inside.cloze import expectations

    return expectations(model_at(moment), list(ids), [place])[0].exp().numpy()


@st.cache_data(show_spinner=False, max_entries=400)
def embeddings_at(moment: Moment, ids: tuple[int, ...]):
    """The token embeddings of `ids`, (N, H), or as narrow as an ALBERT's."""
    return model_at(moment).bert.embeddings.token.weight.detach()[list(ids)].numpy()


@st.fragment
def look_back() -> None:
    """Drag over the kept steps of a model: cloze answers, a head, embeddings."""
    with st.spinner(_("Loading the kept steps …")):
        choices = {past.name: past for past in pasts()}
    if not choices:
        with st.container(border=True):
            st.markdown(
                _("**Nothing to look back at yet.** A run that has ended here, or was stopped, brings its steps; of "
                  "the checkpoints that ship with this installation none has any.")
            )  # fmt: skip
        return
    past = choices[choice_of_past(choices)]
    if words := about(past.directory):
        st.caption(words)
    try:
        kept, tokenizer = moments(past), load(past.name).tokenizer
        model = model_at(kept[-1])
    except (ValueError, OSError) as error:
        refuse(literal(error))
        return
    labels = [label for label, _path in past.steps]
    at = step_slider(past, labels)
    toy = set(tokenizer.vocab) <= set(toy_vocabulary())
    toys, others = examples()
    text = sentence_input(
        "sentence" if toy else "text",
        toys if toy else others,
        label=_("A sentence with a [MASK]"),
        max_chars=300,
    )
    encoding = tokenizer.encode(text, max_length=model.config.max_position_embeddings, truncation="head")
    answers_then(kept, tokenizer, encoding, at, labels)
    with st.grid(2, min_column_width=420, key="then") as grid:
        left, right = grid.container(key="then-left"), grid.container(key="then-right")
    with left:
        head_then(model_at(kept[at]), tokenizer, text)
    with right:
        embeddings_then(kept, tokenizer, at, labels, toy)


def choice_of_past(choices: dict[str, Past]) -> str:
    names = distinct({name: visible(past.title, spaces=False) for name, past in choices.items()})
    newest = next(iter(names))
    arrived = st.session_state.get("_newest-past", newest) != newest
    st.session_state["_newest-past"] = newest
    if arrived:  # a run has just ended: that is what there is to look back at
        st.session_state["past"] = newest
    elif follow_link("past") or st.session_state.get("past") not in names:
        asked = st.query_params.get("past")
        st.session_state["past"] = asked if asked in names else next(iter(names))
    name = st.selectbox(_("Model"), list(names), format_func=names.get, key="past")
    set_url("past", name, default=next(iter(names)))
    return name


def step_slider(past: Past, labels: list[str]) -> int:
    """The index of the step looked at; the last at first. It is in the link, counted from 1."""
    last = len(labels) - 1
    if follow_link("at") or st.session_state.get("at-of") != past.name:
        st.session_state["at"] = url_int("at", last + 1, 1, last + 1) - 1 if follow_or_first(past) else last
    st.session_state["at-of"] = past.name
    st.session_state["at"] = min(st.session_state.get("at", last), last)
    at = st.select_slider(_("Step"), range(last + 1), format_func=labels.__getitem__, key="at")
    set_url("at", at + 1, default=last + 1)
    return at


def follow_or_first(past: Past) -> bool:
    """Whether the step in the link is meant for this model: not when the reader has just changed it."""
    return st.session_state.get("at-of") in (None, past.name)


def answers_then(kept: list[Moment], tokenizer, encoding, at: int, labels: list[str]) -> None:
    from plots.masking import Blank, expected_tokens
    from plots.pretraining import answers_over_steps

    st.markdown("### " + _("What it answers"))
    places = [i for i, number in enumerate(encoding.ids) if number == tokenizer.mask_id]
    if not places:
        st.info(_("Write `[MASK]` where a word is to be guessed."), icon=":material/edit:")
        return
    probs = [expected_at(moment, tuple(encoding.ids), places[0]) for moment in kept]  # (V,) each
    ids = probs[at].argsort()[::-1][:5].tolist()
    words, bars = [tokenizer.vocab[i] for i in ids], probs[at][ids].tolist()
    with st.grid(2, min_column_width=360, key="then-answers") as grid:
        left, right = grid.container(key="then-answers-left"), grid.container(key="then-answers-right")
    with left:
        told = ", ".join(f"{word} {p:.1%}" for word, p in zip(words, bars, strict=True))
        figure(
            expected_tokens([Blank(_("at step {step}").format(step=labels[at]), words, bars)]),
            _("Likeliest at the blank, at step {step}: {told}.").format(step=labels[at], told=told),
            "then-bars",
        )
    with right:
        series = {word: [p[i].item() for p in probs] for word, i in zip(words, ids, strict=True)}
        figure(
            answers_over_steps(labels, series, at, (_("step"), _("probability"))),
            _("How likely these five were at every kept step. At the end: {told}.").format(
                told=", ".join(f"{word} {line[-1]:.1%}" for word, line in series.items())
            ),
            "then-lines",
            data=lambda: {_("step"): labels, **series},
        )


def head_then(model, tokenizer, text: str) -> None:
    import torch

    from minibert.inside.head_arithmetic import record
    from minibert.model import Batch
    from plots.attention import attention_matrix

    st.markdown("### " + _("Where a head looks"))
    encoding = tokenizer.encode(text, max_length=MAX_TOKENS, truncation="head")
    config = model.config
    with st.container(horizontal=True):
        layer = pick("layer", _("Layer"), [str(n + 1) for n in range(config.num_hidden_layers)], width=130)
        head = pick("head", _("Head"), [str(n + 1) for n in range(config.num_attention_heads)], width=130)
    seen = record(model.bert, Batch(torch.tensor([encoding.ids])))
    probs = seen[f"blocks.{layer}.attn.probs"][0, head]  # (T, T)
    row = next((i for i, number in enumerate(encoding.ids) if number == tokenizer.mask_id), 0)
    target = int(probs[row].argmax())
    figure(
        attention_matrix(encoding.tokens, probs, axes=_("from ↓ · to →"), scale=1.0),
        _("Attention of layer {layer}, head {head}. From {row} most goes to {column}: {share:.1%}.").format(
            layer=layer + 1, head=head + 1, row=encoding.tokens[row], column=encoding.tokens[target],
            share=probs[row, target].item(),
        ),
        "then-head",
    )  # fmt: skip


def embeddings_then(kept: list[Moment], tokenizer, at: int, labels: list[str], toy: bool) -> None:
    import numpy as np

    from minibert.inside.projection import principal_plane
    from plots.pretraining import word_map

    st.markdown("### " + _("Where its words lie"))
    key, start = ("toy-words", TOY_WORDS) if toy else ("words", WORDS)
    text = sentence_input(key, [], default=start, label=_("Words of the vocabulary"), max_chars=400)
    index = {token: number for number, token in enumerate(tokenizer.vocab)}
    asked = list(dict.fromkeys(text.lower().split()))
    words = [word for word in asked if word in index][:MAX_WORDS]
    if strange := [word for word in asked if word not in index]:
        st.caption(
            _("Not one token in this vocabulary, so left out: {words}").format(words=literal(", ".join(strange[:12])))
        )
    if len(words) < 3:
        st.info(_("Give at least three words that are tokens of this model."), icon=":material/edit:")
        return
    ids = tuple(index[word] for word in words)
    tables = [embeddings_at(moment, ids) for moment in kept]  # (N, H) each
    plane = principal_plane(tables[-1])
    places = np.stack([plane.project(table) for table in tables])  # (S, N, 2)
    titles = tuple(_("component {n}: {share:.0%}").format(n=n, share=part) for n, part in enumerate(plane.explained, 1))
    figure(
        word_map(words, places, at, titles, name_start=_("step {step}").format(step=labels[0])),
        _(
            "Embeddings of {n} words at step {step}, on the plane in which they differ most at the end ({share:.0%} of "
            "their variance there). Lines: the way since the first kept step."
        ).format(n=len(words), step=labels[at], share=sum(plane.explained)),
        "then-words",
        data=lambda: {_("word"): words, "x": places[at, :, 0], "y": places[at, :, 1]},
    )


# --- keeping --------------------------------------------------------------------------------------------------------


def keep() -> None:
    """Take a run's model away, rename or delete it, or go on with it on another page."""
    own = {training.key: training for training in own_trainings() if settled(training.runs[-1])}
    if not own:
        st.markdown(_("Here stand your runs once they have ended."))
        return
    names = distinct({key: visible(one.name, spaces=False) for key, one in own.items()})
    key = st.selectbox(_("Run"), list(own), format_func=names.get, key="kept")
    training = own[key]
    run = training.runs[-1]
    with st.container(horizontal=True, vertical_alignment="center"):
        if training.directory:
            name = re.sub(r"[^\w-]+", "-", training.name).strip("-") or "my-bert"
            st.download_button(
                _("Download this model"), lambda: zipped(model_files(training.kept)), file_name=f"{name}.zip",
                mime="application/zip", icon=":material/download:", key=f"download-{run.id}", on_click="ignore",
            )  # fmt: skip
        with st.popover(_("Rename"), icon=":material/edit:"):
            title = st.text_input(_("New name"), training.name, max_chars=MAX_NAME, key=f"rename-{run.id}")
            st.button(_("Rename"), key=f"rename-now-{run.id}", on_click=rename, args=(training, title))
        with st.popover(_("Delete"), icon=":material/delete:"):
            st.markdown(_("The run, its model and its kept steps go. This cannot be undone."))
            st.button(_("Delete it"), key=f"delete-{run.id}", type="primary", on_click=delete, args=(training,))
    if not training.directory:
        st.markdown(_("This run left no model: it ended before its first step was saved."))
        return
    code = f"unzip {name}.zip -d {name}"
    if in_transformers(training):
        asked = f"from transformers import pipeline; print(pipeline('fill-mask', '{name}')('… [MASK] …'))"
        code += f'\npython -c "{asked}"'
    st.code(code, "bash")
    if words := about(training.directory):
        st.caption(words)
    st.markdown(_("On the other pages it stands in the list of models under its name:"))
    with st.container(horizontal=True):
        for stop in ("masking", "attention"):
            link_to(stop, query_params={"model": training.kept.id})


def in_transformers(training: Training) -> bool:
    from minibert.relatives.registry import relative_named

    return relative_named(training.settings.get("relative", "bert")).in_transformers


def model_files(run) -> dict[str, bytes]:
    """What `transformers` loads, and the log; not what resuming and looking back take."""
    return {name: content for name, content in run.files.items() if "/" not in name}


def rename(training: Training, title: str) -> None:
    if title.strip():
        for run in training.runs:
            run.title = title.strip()
            run.store()


def delete(training: Training) -> None:
    for run in training.runs:
        manager().delete(run)


# --- the page -------------------------------------------------------------------------------------------------------


def sources() -> None:
    from minibert.model import BertForPreTraining
    from minibert.objectives import losses
    from minibert.train import train

    show_source(train, find=".backward()", label=_("The training loop: `train`"))
    show_source(
        BertForPreTraining.forward, find="cross_entropy", label=_("The two losses: `BertForPreTraining.forward`")
    )
    show_source(losses, find='terms["loss"] =', label=_("Their sum: `losses`"))


lesson.show_title()
manager().warm_up()
lesson.show("What is asked")
lesson.show("Train one")
controls()
own_sentence()
results()
lesson.show("What the curves say")
lesson.show("Look back")
look_back()
lesson.show("Keep it")
keep()
lesson.show("The code")
sources()
lesson.quiz()
next_lesson("pretraining")
