"""What is explained: a classifier's answer to the user's text, or a model's prediction at a blank."""

import math
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from ui.classifiers import (
    RECIPES,
    begun_with,
    classifier_names,
    dev_examples,
    in_chinese,
    predictor_of,
    results_of_own,
    task_of,
    trained,
)
from ui.inputs import choice, sentence_input
from ui.lesson import Lesson
from ui.limits import warn_unread_text
from ui.model_cache import language_read, load, version_of
from ui.model_registry import available_models
from ui.model_widgets import choose_model
from ui.page import with_drawer
from ui.state import follow_link, url_int
from ui.text import Signed, literal, visible
from ui.translations import _, first_language

MOST_WORDS = 30  # each word costs each method more forward passes
MOST_CHARACTERS = 600
STEPS = (2, 4, 8, 16, 32, 64, 128)
USUAL_STEPS = 32
ANSWER = "its-answer"  # stands for the likeliest class
BLANK = "blank-"  # prefix for the name of a model that fills a blank
USUAL_GUESSER = "mini-en"  # fast: a map takes some hundred forward passes
GUESSES = 5


@dataclass(frozen=True)
class Inputs:
    """key: cache key · case: the answer (`attribution.Case`) · replacement: of a missing word · steps:
    of integrated gradients · run: the classifier's; None for a blank · model: that fills the blank · missing: the
    chosen classifier that nobody has trained yet; a blank is explained instead."""

    key: tuple
    case: Any = field(repr=False)
    replacement: str
    steps: int
    run: Any = None
    model: str = ""
    missing: str = ""

    @property
    def words(self) -> list[str]:
        return [visible(word.text, spaces=False) for word in self.case.words]

    @property
    def answer(self) -> str:
        """The model's answer in words, with its score."""
        said = (
            _("The model puts **{label}** in the blank with a probability of **{p:.1%}**: log-odds **{score:+.2f}**.")
            if self.run is None
            else _("The model says **{label}** with a probability of **{p:.1%}**: log-odds **{score:+.2f}**.")
        )
        score = self.case.score
        return said.format(label=literal(self.case.label), p=1 / (1 + math.exp(-score)), score=Signed(score))


def method_names() -> dict[str, str]:
    return {
        "gradient": _("Gradient × input"),
        "integrated": _("Integrated gradients"),
        "leave_one_out": _("Leave one out"),
        "shapley": _("Shapley values"),
        "rollout": _("Attention rollout"),
    }


def column_names() -> dict[str, str]:
    """Method names broken into two lines, for columns."""
    return {method: name.replace(" ", "<br>", 1) for method, name in method_names().items()}


def replacement_names() -> dict[str, str]:
    return {"mask": "[MASK]", "pad": "[PAD]", "cut": _("nothing: cut out")}


def read(lesson: Lesson) -> Inputs | None:
    """The user's text and, in a drawer, the model, the class and the replacement of a missing word; None, after showing
    the reason, if there is nothing to explain."""
    left, right = with_drawer()
    with right:
        examples_in, chosen, settings = st.container(), _choose_model(), st.container()
    run = None if chosen.startswith(BLANK) else trained(chosen)
    with left:
        model = "" if run else chosen.removeprefix(BLANK) if chosen.startswith(BLANK) else begun_with(chosen)
        fields = _text_for(lesson, run, examples_in) if run else {"text": _text_with_blank(lesson, model, examples_in)}
    case, more = _within(run, model, fields)
    if isinstance(case, str):
        wanted = (
            _("Type a text with at least one word.")
            if run
            else _("Write [MASK] once into your text, where the blank should be, and at least one word beside it.")
        )
        st.info(wanted, icon=":material/edit:")
        return None
    warn_unread_text(run.id if run else model, *fields.values(), name=chosen)
    if more:
        left.caption(_("The first {n} words are read.").format(n=MOST_WORDS))
    texts = tuple(_texts_read(case, fields).items())
    with settings:
        offered = case.labels if run else _guesses(run, model, texts)
        names = {ANSWER: _("its answer"), **{label: literal(label) for label in offered}}
        target = choice("class", _("Speaks for"), names, wrap=True)
        replacement = choice("instead", _("Instead of a missing word stands"), replacement_names())
    if target not in (ANSWER, case.label):
        case = _case(run, model, texts, target)
    owner = run.id if run else (model, version_of(model))
    missing = "" if run or chosen.startswith(BLANK) else chosen
    return Inputs((owner, texts, case.label), case, replacement, steps_now(), run, model, missing)


def _choose_model() -> str:
    guessers = available_models(fill=True, trained=True)
    guessers.sort(key=lambda info: info.name != USUAL_GUESSER)
    names = classifier_names() | {
        BLANK + info.name: _("a guess at a blank: {model}").format(model=info.title) for info in guessers
    }
    begun = {recipe.name: recipe.checkpoint for recipe in RECIPES if recipe.name in names}
    usual = next((name for name, checkpoint in begun.items() if language_read(checkpoint) == first_language()), None)
    return choose_model("model", _("The model that answers"), names, results_of_own(), usual, read_as=begun)


def _text_for(lesson: Lesson, run, examples_in) -> dict[str, str]:
    """The user's own text or pair, in the form of the classifier's task."""
    examples = dev_examples(run)
    if task_of(run) == "pair":
        labels = {"text": _("First sentence"), "pair": _("Second sentence")}
        return {
            name: sentence_input(
                key,
                [example[name] for example in examples[:4]],
                label=labels[name],
                max_chars=MOST_CHARACTERS,
                examples_in=examples_in,
            )
            for key, name in (("a", "text"), ("b", "pair"))
        }
    if in_chinese(run):
        key, ready = "zh", sorted((example["text"] for example in examples), key=len)[:4]
    else:
        key, ready = "text", lesson.examples
    field = {"label": _("Your own text"), "max_chars": MOST_CHARACTERS, "travels": True, "examples_in": examples_in}
    return {"text": sentence_input(key, ready, **field)}


def _text_with_blank(lesson: Lesson, model: str, examples_in) -> str:
    ready = lesson.examples_called("blank-zh" if language_read(model) == "zh" else "blank")
    label = _("Your own text, with one [MASK]")
    return sentence_input("blank", ready, label=label, max_chars=MOST_CHARACTERS, examples_in=examples_in, blanks=True)


def _case(run, model: str, texts: tuple, target: str | None = None):
    if run:
        return case_of(run.id, run, texts, target)
    loaded = load(model)
    return _guess_of((model, version_of(model)), loaded, dict(texts)["text"], target)


@st.cache_resource(show_spinner=False, max_entries=64)
def case_of(run_id: str, _run, fields: tuple, target: str | None):
    """The classifier's answer to explain, or the error message."""
    from minibert.inside.explanations.attribution import Case

    try:
        return Case.of(predictor_of(_run), dict(fields), target)
    except ValueError as error:
        return str(error)


@st.cache_resource(show_spinner=False, max_entries=64)
def _guess_of(model: tuple, _loaded, text: str, target: str | None):
    """The prediction to explain, or the error message."""
    from minibert.inside.explanations.attributed_blanks import AttributedBlank

    try:
        return AttributedBlank.at(_loaded.model, _loaded.tokenizer, text, target)
    except ValueError as error:
        return str(error)


def guess_of(model: str, text: str):
    """The model's prediction at the one blank of a text, or the error message."""
    return _guess_of((model, version_of(model)), load(model), text, None)


def _guesses(run, model: str, texts: tuple) -> list[str]:
    return _case(run, model, texts).likeliest(GUESSES)


def _within(run, model: str, fields: dict[str, str]):
    """The case of the first MOST_WORDS words of each text, and whether there were more."""
    case = _case(run, model, tuple(fields.items()))
    if isinstance(case, str):
        return case, False
    cut = {}
    for segment, (name, text) in enumerate(fields.items()):
        words = [word for word in case.words if word.segment == segment]
        cut[name] = text[: words[MOST_WORDS].start] if len(words) > MOST_WORDS else text
    return _case(run, model, tuple(cut.items())), cut != fields


def _texts_read(case, fields: dict[str, str]) -> dict[str, str]:
    """The texts up to the last explained word; for a blank the whole text, to keep the blank."""
    if len(fields) == 1 and hasattr(case, "place"):
        return fields
    read = {}
    for segment, (name, text) in enumerate(fields.items()):
        words = [word for word in case.words if word.segment == segment]
        read[name] = text[: words[-1].start + len(words[-1].text)] if words else text
    return read


def steps_now() -> int:
    if follow_link("steps") or st.session_state.get("steps") not in STEPS:
        linked = url_int("steps", USUAL_STEPS, STEPS[0], STEPS[-1])
        st.session_state["steps"] = linked if linked in STEPS else USUAL_STEPS
    return st.session_state["steps"]
