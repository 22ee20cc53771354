"""Fine-tuned classifiers to inspect: those trained once for the whole class, and the user's own runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from minibert.folders import CHECKPOINTS
from minibert.tasks import TASKS
from minibert.tasks.sequences import ClassTask
from minibert.text.json_values import json_object
from ui.errors import translated
from ui.lesson import LESSONS
from ui.model_cache import load_predictor
from ui.model_widgets import choose_model
from ui.runs import (
    EVERYONE,
    REFRESH,
    complete,
    manager,
    note_refusal,
    own_models,
    run_title,
    settled,
    show_refusal,
    state_in_words,
    weights_to_begin_with,
)
from ui.text import literal
from ui.translations import _

if TYPE_CHECKING:
    from minibert.finetune.predictor import Predictor


@dataclass(frozen=True)
class Recipe:
    """How to train a classifier for the whole class: on our own data, from a checkpoint in the repository."""

    name: str
    task: str
    checkpoint: str
    epochs: int

    @property
    def kind(self) -> str:
        return f"shared/{self.name}"

    @property
    def title(self) -> str:
        return {
            "reviews": _("reviews: positive or negative"),
            "reviews-zh": _("Chinese reviews: positive or negative"),
            "pairs": _("pairs: does the second sentence follow?"),
        }[self.name]


RECIPES = (
    Recipe("reviews", "classification", "mini-en", 4),
    Recipe("reviews-zh", "classification", "mini-zh", 6),
    Recipe("pairs", "pair", "mini-en", 4),
)


def classifier_choice(key: str = "model"):
    """A select box over the classifiers, stored in the link as `key` → the run that trained the chosen one; None while
    there is no such run: then the page says what to do."""
    names = classifier_names()
    if not names:
        st.warning(_("There is no checkpoint to start from in `checkpoints/`."))
        return None
    return classifier_named(choose_model(key, _("The model that answers"), names, results_of_own()))


def classifier_names() -> dict[str, str]:
    """Name → title of the shared classifiers and of the user's own."""
    names = {recipe.name: recipe.title for recipe in RECIPES if complete(CHECKPOINTS / recipe.checkpoint)}
    return names | {run.id: run_title(run) for run in own_classifiers()}


def results_of_own() -> dict:
    """Name → folder of the user's own classifiers."""
    return {run.id: run.result for run in own_classifiers()}


def begun_with(name: str) -> str:
    """The checkpoint that a classifier of RECIPES is trained from."""
    return next(recipe.checkpoint for recipe in RECIPES if recipe.name == name)


def classifier_named(name: str):
    """The run that trained this classifier; None while there is none: a shared one can then be trained on the page."""
    recipe = next((recipe for recipe in RECIPES if recipe.name == name), None)
    return trained(name) if recipe is None else _shared(recipe)


def trained(name: str):
    """The run that trained this classifier, the user's own or shared; None while there is none."""
    own = next((run for run in own_classifiers() if run.id == name), None)
    return own or shared_run(name)


def own_classifiers() -> list:
    """This browser's runs that left a classifier, newest first."""
    return [run for run in own_models() if _answers(run)]


def _answers(run) -> bool:
    """Whether the run has left a classifier and the "started" event, which holds its dev examples."""
    values = json_object(run.result / "config.json")
    return isinstance(TASKS.get(values.get("minibert_task")), ClassTask) and run.latest("started") is not None


def shared_run(name: str):
    """The newest finished run that trained the shared model `name` of RECIPES; None while there is none."""
    recipe = next(recipe for recipe in RECIPES if recipe.name == name)
    ended = (r for r in _runs_of(recipe) if settled(r) and r.state == "finished" and complete(r.result))
    return next(filter(_answers, ended), None)


def _runs_of(recipe: Recipe) -> list:
    return [run for run in manager().runs(EVERYONE) if run.kind == recipe.kind]


def _shared(recipe: Recipe):
    """The finished run of this recipe; until there is one, None, and the page shows a button or the progress."""
    run = shared_run(recipe.name)
    if run is not None:
        return run
    runs = _runs_of(recipe)
    going = next((run for run in reversed(runs) if not settled(run)), None)  # the oldest
    if going is None:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            words = _(
                "**{title}**: nobody has trained this model on this server yet. It takes some 15 seconds, once for all."
            )
            st.markdown(words.format(title=literal(recipe.title)))
            st.button(
                _("Train it"),
                key=f"train-{recipe.name}",
                type="primary",
                icon=":material/play_arrow:",
                on_click=_train,
                args=(recipe,),
            )
            show_refusal()
            if runs and runs[0].error:
                st.error(literal(translated(runs[0].error)), icon=":material/error:")
        return None
    _follow(going)
    return None


def _follow(run) -> None:
    """Show the progress of a run; rerun the whole page when it ends."""

    def look() -> None:
        if settled(run):
            st.rerun()
        st.progress(run.progress, text=f"{literal(run.title)}{_(': ')}**{state_in_words(run)}**")

    st.fragment(look, run_every=REFRESH)()


def _train(recipe: Recipe) -> None:
    if any(not settled(run) for run in _runs_of(recipe)):
        return  # someone else was quicker
    from jobs.manager import JobError
    from minibert.finetune.settings import FinetuneSettings
    from minibert.train import Optimization

    task = TASKS[recipe.task]
    train, dev = (task.read(LESSONS / "data" / recipe.name / f"{part}.tsv") for part in ("train", "dev"))
    settings = FinetuneSettings(
        epochs=recipe.epochs, pooling="mean", optimization=Optimization(learning_rate=3e-4), evaluations_per_epoch=1
    )
    start = weights_to_begin_with(CHECKPOINTS / recipe.checkpoint)
    try:
        manager().submit(
            "minibert.finetune.run:finetune",
            start,
            recipe.task,
            train,
            dev,
            settings,
            owner=EVERYONE,
            title=recipe.title,
            kind=recipe.kind,
        )
    except JobError as error:
        note_refusal(error)


def predictor_of(run) -> "Predictor":
    """The trained model of a run. Shared between sessions: never modify it."""
    with st.spinner(_("Loading the model …")):
        return load_predictor(run.id, str(run.result))


def task_of(run) -> str:
    return run.latest("started")["details"]["task"]


def dev_examples(run) -> Sequence[dict]:
    """The dev examples of the run: dicts with text (and pair), label, extra."""
    return run.latest("started")["details"]["dev_examples"]


def in_chinese(run) -> bool:
    """Whether the model was trained on Chinese: true if its first dev example contains a CJK character."""
    from minibert.text.characters import is_cjk

    return any(map(is_cjk, dev_examples(run)[0]["text"]))


def show_accuracy(run) -> None:
    """Caption with the model's accuracy and the majority baseline: explanations of a poor model are noise."""
    done, truth = run.latest("done"), [example["label"] for example in dev_examples(run)]
    if done is None:
        return
    chance = max(map(truth.count, set(truth))) / len(truth)
    st.caption(
        _("Right on {accuracy:.1%} of {n} held-out examples; always the commonest class: {chance:.1%}.").format(
            accuracy=done["metrics"]["accuracy"], n=len(truth), chance=chance
        )
    )
