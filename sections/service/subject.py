"""What all parts share: the class's sentence, and the fine-tuned model that answers it."""

import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from minibert.folders import CHECKPOINTS
from minibert.text.json_values import json_object
from ui.inputs import sentence_input
from ui.lesson import REVIEWS, Lesson
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
from ui.translations import _

# Import torch, and what imports it, only where needed: the page shows before that.

KIND = "service"
START = CHECKPOINTS / "mini-en"
UNTRAINED = "untrained"
SECONDS_AT_MOST = 300
MAX_CHARS = 2_000
BROKEN = (
    "sentence\tlabel\nNot a dull minute.\tpositive\nThe soup was cold.\nCold coffee, warm beer.\t\n"
    "A quiet room.\tpositive\nI left after the first act.\tnegative\n"
)
_WANTED = "_service-wanted"  # session_state key: run whose model gets selected once it is saved


@dataclass(frozen=True)
class Served:
    """name: of the model, in links · directory: of a fine-tuned model, else None · text: the class's sentence."""

    name: str
    directory: Path | None
    text: str

    @property
    def predictor(self):
        return predictor_of(self.name, self.directory)


def read(lesson: Lesson) -> Served:
    """One row: the sentence, the button that fine-tunes a model, the model in the drawer."""
    keep("service", {"file": BROKEN, "ready": "good"}, prefixes=("request-", "input-"))
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
    warn_unread_text(START.name if chosen == UNTRAINED else chosen, text)
    show_refusal()
    _going()
    return Served(chosen, models.get(chosen, ("", None))[1], text)


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
    return _fresh() if directory is None else load_predictor(name, str(directory))


@st.cache_resource(show_spinner=False)
def _fresh():
    from minibert.finetune.option_effects import FreshLearner
    from minibert.finetune.settings import FinetuneSettings

    bench = FreshLearner.of(START, "classification", reviews("train"), FinetuneSettings())
    bench.learner.eval()
    return bench.predictor


@st.cache_data(show_spinner=False)
def reviews(part: str):
    from minibert.tasks import TASKS

    return TASKS["classification"].read(REVIEWS / f"{part}.tsv")


def _train_one() -> None:
    """The button that fine-tunes a model in some seconds; the model is selected once finished."""
    if st.button(_("Fine-tune on reviews"), icon=":material/play_arrow:", key="train", type="primary"):
        from minibert.finetune.settings import FinetuneSettings
        from minibert.train import Optimization

        settings = FinetuneSettings(optimization=Optimization(learning_rate=3e-4), max_seconds=SECONDS_AT_MOST)
        arguments = (weights_to_begin_with(START), "classification", reviews("train"), reviews("dev"), settings)
        when = time.strftime("%H:%M:%S", time.gmtime())
        title = _("reviews · fine-tuned at {time} UTC").format(time=when)
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
