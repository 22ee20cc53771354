"""Order or topic: a model pre-trained with NSP and one pre-trained with SOP, each tested on both questions."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from minibert.folders import CHECKPOINTS
from sections.albert.subject import MAX_CHARS, Inputs
from ui.figures import figure
from ui.first_views import first_view
from ui.inputs import sentence_input
from ui.lesson import Lesson
from ui.limits import say_left_out
from ui.pairs import ModelPair, networks, warn_unknown
from ui.predict import predict
from ui.source import show_source
from ui.text import literal
from ui.translations import _

MOST = 50  # tokens of each sentence
STORIES, SEED = 200, 6_000_011  # stories that no shipped model was trained on
GUESSES = (0.5, 0.75, 0.95)


@dataclass(frozen=True)
class PairModel:
    """A model and its pre-training objective: "mlm+nsp", "mlm+sop" or only "mlm"."""

    name: str
    objective: str


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.inside.predictions.pair_questions import judged, pairs_to_judge

    lesson.show("Order or topic", title=False)
    if inputs.pair.further:
        words = _("Only two models that have read the same stories can be compared here. Choose such a pair above.")
        st.info(words, icon=":material/info:")
        return
    if any(one.objective == "mlm" for one in pair_models(inputs.pair)):
        st.info(
            _(
                "These two were not trained on pairs. Choose the shipped ones in the drawer above, or train two on "
                "pairs."
            ),
            icon=":material/info:",
        )
        return
    answers = _counted(inputs.pair, inputs.pair.version)
    if _guessed(inputs.pair, answers):
        if inputs.pair.bert.is_relative_to(CHECKPOINTS):
            lesson.show("Order in the toy world", title=False)  # about the shipped pair
        _draw(answers)
    _own(lesson, inputs.pair)
    show_source(pairs_to_judge, label=_("How the pairs are made"))
    show_source(judged, label=_("How they are judged"))


def pair_models(pair: ModelPair) -> list[PairModel]:
    from minibert.checkpoint import OBJECTIVE, config_values

    folders = {"ALBERT": pair.relative, "BERT": pair.bert}
    return [PairModel(name, config_values(folder).get(OBJECTIVE, "mlm")) for name, folder in folders.items()]


@st.cache_data(show_spinner=False, max_entries=16, hash_funcs={Path: str})
def _counted(pair: ModelPair, version: int) -> dict[str, dict[str, float]]:
    """Model → question → balanced accuracy (true pairs and others have the same weight)."""
    from minibert.inside.predictions.pair_questions import SECONDS, judged
    from minibert.toy import world

    def count() -> dict[str, np.ndarray]:
        albert, bert, tokenizer = networks(pair)
        documents = world.documents(STORIES, SEED, "small")
        judges = {"ALBERT": albert, "BERT": bert}
        return {name: np.array([*judged(one, tokenizer, documents).values()]) for name, one in judges.items()}

    shipped = pair.bert.is_relative_to(CHECKPOINTS)
    stored = first_view("albert", "order", "", [STORIES, SEED], count) if shipped else count()
    return {name: dict(zip(SECONDS, shares.tolist(), strict=True)) for name, shares in stored.items()}


def _guessed(pair: ModelPair, answers: dict[str, dict[str, float]]) -> bool:
    share = answers["BERT"]["sop"]
    right = min(range(len(GUESSES)), key=lambda i: abs(GUESSES[i] - share))
    question = _("BERT was trained on next sentences. Tested on the order, how often is it right?")
    options = [_("one in two"), _("three in four"), _("nearly always")]
    return predict("albert-order", question, options, right, about=pair.name)


def _draw(answers: dict[str, dict[str, float]]) -> None:
    from plots.next_sentence import trained_and_asked
    from plots.theme import titled

    trained = {"ALBERT": _("ALBERT, trained on order"), "BERT": _("BERT, trained on next sentences")}
    questions = (_("test: next or from elsewhere?"), _("test: in order or swapped?"))
    rows = {trained[name]: (100 * scores["nsp"], 100 * scores["sop"]) for name, scores in answers.items()}
    title = _("On order: BERT {bert:.0f} % (next sentences: {own:.0f} %), ALBERT {albert:.0f} %").format(
        bert=100 * answers["BERT"]["sop"], own=100 * answers["BERT"]["nsp"], albert=100 * answers["ALBERT"]["sop"]
    )
    details = " ".join(
        f"{name}{_(': ')}{questions[0]} {one:.1f} %{_('; ')}{questions[1]} {other:.1f} %{_('.')}"
        for name, (one, other) in rows.items()
    )
    figure(titled(trained_and_asked(rows, questions), title), details, "crosswise", wide=True)
    st.caption(
        _(
            "Pairs of {n} stories of the toy world that the shipped models have not read. True pairs and others weigh "
            "the same, so 50 % is guessing. These two differ in more than the task; in *The claim* nothing else "
            "differs."
        ).format(n=STORIES)
    )


def _own(lesson: Lesson, pair: ModelPair) -> None:
    """Two sentences from the user, judged by both models in either order."""
    from minibert.inside.predictions.pair_questions import follows
    from minibert.text.segment_pairs import SegmentPair

    st.markdown("### " + _("Two sentences of your own"))
    left, right = st.columns(2)
    examples = lesson.examples_called("pair")
    with left:
        first = sentence_input("first", [], label=_("First"), default=examples[0], max_chars=MAX_CHARS)
    with right:
        second = sentence_input("second", [], label=_("Second"), default=examples[1], max_chars=MAX_CHARS)
    other = examples[2]
    albert, bert, tokenizer = networks(pair)
    for box, text in ((left, first), (right, second)):
        with box:
            say_left_out(len(tokenizer.encode(text, add_special=False)) - MOST)
    a, b, c = (tokenizer.encode(text, add_special=False).ids[:MOST] for text in (first, second, other))
    warn_unknown([tokenizer.vocab[i] for i in a + b])
    if not (a and b):
        st.info(_("Type two sentences."), icon=":material/edit:")
        return
    pairs = {
        _("as they stand"): SegmentPair(a, b, None),
        _("swapped"): SegmentPair(b, a, None),
        _("the second from elsewhere: “{text}”").format(text=literal(other)): SegmentPair(a, c, None),
    }
    scores = {
        name: follows(model, tokenizer, list(pairs.values())) for name, model in (("ALBERT", albert), ("BERT", bert))
    }
    head = f"| | {_('ALBERT: P(in order)')} | {_('BERT: P(is next)')} |\n|:--|--:|--:|\n"
    lines = [f"| {name} | {scores['ALBERT'][i]:.0%} | {scores['BERT'][i]:.0%} |" for i, name in enumerate(pairs)]
    st.markdown(head + "\n".join(lines))
