"""What all parts share: the class's sentence, and the fine-tuned model that answers it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_cache import load_predictor
from ui.model_widgets import choose_model
from ui.page import drawer
from ui.runs import (
    live,
    own_models,
    own_runs,
    run_title,
    settled,
    show_refusal,
    state_rows,
    submit,
    weights_to_begin_with,
)
from ui.sticky_state import keep
from ui.task_data import read_shipped, shipped_sets
from ui.translations import DEFAULT, _, first_language

if TYPE_CHECKING:
    from minibert.finetune.predictor import Predictor
    from minibert.finetune.settings import FinetuneSettings
    from minibert.tasks import TaskData

# Import torch, and what imports it, only where needed: the page shows before that.

KIND = "service"
UNTRAINED = "untrained"
SECONDS_AT_MOST = 300
MAX_CHARS = 2_000
_WANTED = "_service-wanted"  # session_state key: run whose model gets selected once it is saved


@dataclass(frozen=True)
class OurData:
    """What a model is fine-tuned on here, in a language. start: the checkpoint · folder: in lessons/data · held_out:
    its part to evaluate on · broken: a file in which two lines are wrong."""

    start: str
    folder: str
    held_out: str
    broken: str

    def path(self, part: str) -> str:
        return f"lessons/data/{self.folder}/{part}.tsv"

    def read(self, part: str) -> "TaskData":
        return _read(self.folder, part)

    @property
    def settings(self) -> "FinetuneSettings":
        from minibert.finetune.settings import FinetuneSettings
        from minibert.train import Optimization

        small = shipped_sets()[self.folder].small  # None: the command's own values suit it
        chosen = {"epochs": small.epochs, "batch_size": small.batch} if small else {}
        return FinetuneSettings(**chosen, optimization=Optimization(learning_rate=3e-4), max_seconds=SECONDS_AT_MOST)


DATA = {
    "en": OurData(
        "mini-en",
        "reviews",
        "test",
        "sentence\tlabel\nNot a dull minute.\tpositive\nThe soup was cold.\nCold coffee, warm beer.\t\n"
        "A quiet room.\tpositive\nI left after the first act.\tnegative\n",
    ),
    "zh": OurData(
        "mini-zh",
        "topics-zh",
        "dev",
        "sentence\tlabel\n风衣的腰带怎么系才好看？\t时尚\n阳台上种什么花？\n第三关的门要两把钥匙。\t\n"
        "沙发该靠哪面墙？\t家居\n存档之前别去见国王。\t游戏\n",
    ),
}


@dataclass(frozen=True)
class Served:
    """name: of the model, in links · title: of the run that fine-tuned it, directory: of its files; else "" and None ·
    text: the class's sentence · sample: the lesson's first, in the page's language."""

    name: str
    title: str
    directory: Path | None
    text: str
    sample: str

    @property
    def predictor(self):
        return predictor_of(self.name, self.directory)

    @property
    def example(self) -> dict:
        """An input as a client sends it."""
        usual = self.predictor.task.example_input
        return {"text": self.sample} if set(usual) == {"text"} else usual


def our_data() -> OurData:
    return DATA.get(first_language(), DATA[DEFAULT])


def learned_from(predictor: "Predictor") -> OurData | None:
    """Our data that has the model's labels; None if none has."""
    if predictor.task.name != "classification":
        return None
    return next((one for one in DATA.values() if set(one.read("train").labels) == set(predictor.labels)), None)


def read(lesson: Lesson) -> Served:
    """One row: the sentence, the button that fine-tunes a model, the model in the drawer."""
    if st.session_state.get("file") in {one.broken for one in DATA.values()}:  # of another language
        st.session_state["file"] = our_data().broken
    keep("service", {"file": our_data().broken, "ready": "good"}, prefixes=("request-", "input-"))
    models = fine_tuned()
    asked, examples = st.container(horizontal=True, vertical_alignment="bottom", key="asked"), st.container()
    with asked:
        with st.container():
            text = sentence_input(
                "text",
                lesson.examples,
                label=_("A sentence to send"),
                max_chars=MAX_CHARS,
                travels=True,
                examples_in=examples,
            )
        _train_one()
        with drawer(_("Model")):
            chosen = _choose(models)
            lesson.show("The model", title=False)
    warn_unread_text(our_data().start if chosen == UNTRAINED else chosen, text)
    show_refusal()
    _going()
    return Served(chosen, *models.get(chosen, ("", None)), text, lesson.examples[0])


def fine_tuned() -> dict[str, tuple[str, Path]]:
    """This browser's fine-tuned models: id → (title, directory); the best of the newest click first."""
    runs = [run for run in own_models() if "minibert_task" in json_object(run.result / "config.json")]
    newest = [run for run in runs if run.kind == runs[0].kind]  # of one click, on the same data
    best = sorted(newest, key=_score, reverse=True)
    return {run.id: (run_title(run), run.result) for run in (*best, *(run for run in runs if run not in newest))}


def _score(run) -> float:
    """Its headline metric, as last measured."""
    begun, measured = run.latest("started"), run.latest("eval")
    return measured["metrics"].get(begun["details"].get("metric"), 0.0) if begun and measured else 0.0


def _choose(models: dict[str, tuple[str, Path]]) -> str:
    if st.session_state.get(_WANTED) in models:
        st.session_state["model"] = st.session_state.pop(_WANTED)
    titles = {name: title for name, (title, _directory) in models.items()}
    titles[UNTRAINED] = _("shipped checkpoint, new layer untrained (answers by chance)")
    return choose_model("model", _("Model"), titles, {name: directory for name, (_title, directory) in models.items()})


def predictor_of(name: str, directory: Path | None):
    """The model, loaded once for all sessions, never changed."""
    return _fresh(first_language()) if directory is None else load_predictor(name, str(directory))


@st.cache_resource(show_spinner=False)
def _fresh(language: str):
    from minibert.finetune.option_effects import FreshLearner

    data = DATA.get(language, DATA[DEFAULT])
    bench = FreshLearner.of(CHECKPOINTS / data.start, "classification", data.read("train"), data.settings)
    bench.learner.eval()
    return bench.predictor


@st.cache_data(show_spinner=False)
def _read(folder: str, part: str):
    return read_shipped("classification", f"{folder}/{part}.tsv")


def _train_one() -> None:
    """The button that fine-tunes a model in some seconds; the model is selected once finished."""
    data = our_data()
    button, title = {
        "reviews": (_("Fine-tune on reviews"), _("reviews · fine-tuned at {time} UTC")),
        "topics-zh": (_("Fine-tune on topics"), _("topics · fine-tuned at {time} UTC")),
    }[data.folder]
    if st.button(button, icon=":material/play_arrow:", key="train", type="primary"):
        start = weights_to_begin_with(CHECKPOINTS / data.start)
        arguments = (start, "classification", data.read("train"), data.read("dev"), data.settings)
        title = title.format(time=time.strftime("%H:%M:%S", time.gmtime()))
        run = submit("minibert.finetune.run:finetune", *arguments, title=title, kind=f"{KIND}/{time.time_ns()}")
        if run is not None:
            st.session_state[_WANTED] = run.id


def _going() -> None:
    """The newest run, until its model is saved."""
    runs = own_runs(KIND)[:1]
    if runs and not (settled(runs[0]) and runs[0].state == "finished"):
        live(
            (runs[0].id,),
            lambda shown: state_rows(shown, lambda step: _(" · loss {loss:.3f}").format(loss=step["loss"])),
        )
