"""Live training of BERT and a relative on the same toy-world tokens, with overlaid curves and predictions."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from ui.figures import bars_in_words, figure
from ui.inputs import distinct, sentence_input
from ui.lesson import Lesson
from ui.live_runs import step_and_speed
from ui.page import drawer
from ui.runs import going, live, own_runs, show_refusal, state_rows, submit
from ui.text import visible
from ui.translations import _

STEPS, MOST_STEPS = 400, 3_000
MEASURED = 40  # steps between evaluations on held-out stories
SEEDS = 3  # at most


@dataclass(frozen=True)
class ComparedModel:
    """A model to train. title: its name in figures · relative: its model_type · options: arguments of its objective ·
    sizes: fields of its config that differ · settings: fields of the run's settings that differ."""

    title: str
    relative: str = "bert"
    options: Mapping[str, Any] | None = None
    sizes: Mapping[str, int | str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Quantity:
    """A panel of the curves. line: metric on training batches · marks: metric on held-out stories · reference: (another
    held-out metric drawn for comparison, its label) · percent: whether values are shares."""

    title: str
    line: str | None = None
    marks: str | None = None
    reference: tuple[str, str] | None = None
    percent: bool = False


def show(lesson: Lesson, at_choice: Callable[[], Mapping[str, Any]], holds: tuple[str, ...] = ()) -> None:
    """The "Train both" section of a lesson: field for a cloze sentence, drawer with options, `train_both`, explanation.
    at_choice: draws the drawer's widgets → the `sides`, `quantities` and further arguments of `train_both`
    holds: as in `drawer`."""
    lesson.show("Train both", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", key="both-sentence"):
        with st.container():
            probe_inputs = sentence_input(
                "cloze",
                lesson.examples_called("cloze"),
                label=_("A sentence with a [MASK], answered while they train"),
                blanks=True,
            )
        with drawer(key="both-drawer", holds=holds):
            chosen = at_choice()
    train_both(lesson.name, probe_inputs=probe_inputs, **chosen)
    lesson.show("How to read the curves", title=False)


def right_words() -> Quantity:
    """Share of words that the model ranks above all others of their kind; baseline: the commonest word of each kind."""
    return Quantity(
        _("Right word chosen among its kind’s"),
        marks="chosen",
        reference=("guessable_by_kind", _("the commonest")),
        percent=True,
    )


def train_both(
    page: str,
    sides: Sequence[ComparedModel],
    quantities: Sequence[Quantity],
    probe_inputs: str,
    *,
    masked: int = 15,
    pairs: bool = False,
    lengths: Sequence[int] = (),
    spans: bool = False,
    usual: int = STEPS,
) -> None:
    """The start button, this browser's runs, and their curves and predictions. page: first part of the runs' kind ·
    probe_inputs: a sentence with a [MASK] that all models fill in · masked: percent of tokens masked · pairs: rows are
    segment pairs, with the pair objective of each model; else whole stories, without one · lengths: row lengths at
    which the models are evaluated; spans: also evaluate on three masked words in a row and on wrong words, see
    `pretrain_toy` · usual: default number of steps."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="both-asked"):
        steps = st.slider(_("Steps"), 50, MOST_STEPS, usual, 50, key="both-steps", width=260)
        seeds = st.segmented_control(_("Seeds"), range(1, SEEDS + 1), default=1, key="both-seeds", required=True)
        if st.button(_("Train both"), type="primary", icon=":material/play_arrow:", key="train-both"):
            more = {"lengths": list(lengths)} if lengths else {}
            more |= {"spans": True} if spans else {}
            _begin(page, sides, int(steps), int(seeds), probe_inputs, masked, pairs, more)
    show_refusal()
    groups = _groups(page)
    if not groups:
        st.markdown(
            _("**No run yet.** Both read the same stories; the first points stand here some seconds after the click.")
        )
        return
    names = distinct({stamp: _title(runs) for stamp, runs in groups.items()})
    stamp = next(iter(groups))
    if len(groups) > 1:
        stamp = st.selectbox(_("Trained together"), list(groups), format_func=names.get, key="both-group")
    ids = tuple(run.id for run in groups[stamp])

    def draw(runs: list) -> None:
        _curves(runs, quantities)
        _answers(runs)

    live(ids, draw, lambda runs: state_rows(going(runs), step_and_speed))


def _begin(
    page: str,
    sides: Sequence[ComparedModel],
    steps: int,
    seeds: int,
    probe_inputs: str,
    masked: int,
    pairs: bool,
    more: Mapping[str, Any],
) -> None:
    stamp = f"{page}/{time.time_ns()}"
    for seed in range(seeds):
        for number, side in enumerate(sides):
            settings = _settings(side, steps, seed, masked, pairs)
            name = side.title if seeds == 1 else _("{model}, seed {n}").format(model=side.title, n=seed)
            same = any(one.relative == side.relative for one in sides[:number])
            kind = f"{stamp}/{side.relative}-{seed}" + (f"-{number}" if same else "")
            submit(
                "minibert.toy.pretrain:pretrain_toy",
                settings,
                probe_inputs=[probe_inputs],
                title=name,
                kind=kind,
                **more,
            )


def _settings(side: ComparedModel, steps: int, seed: int, masked: int, pairs: bool = False):
    from minibert.objectives import Masking
    from minibert.toy.pretrain import PAIRS, TOY

    return replace(
        TOY,
        relative=side.relative,
        objective_options=dict(side.options or {}),
        sizes=dict(side.sizes or {}),
        minutes=None,
        steps=steps,
        seed=seed,
        masking=Masking(rate=masked / 100),
        snapshots=(),
        measure_every=MEASURED,
        **(PAIRS if pairs else {}),
        **side.settings,
    )


def _groups(page: str) -> dict[str, list]:
    """This browser's runs grouped by the click that started them, newest group first."""
    groups: dict[str, list] = {}
    for run in own_runs(page):
        groups.setdefault(run.kind.rpartition("/")[0], []).append(run)
    return {stamp: runs[::-1] for stamp, runs in groups.items()}


def _title(runs: list) -> str:
    begun = next((event for run in runs if (event := run.latest("started"))), None)
    steps = f"{begun['settings']['steps']:,}" if begun else "…"
    return _("{names}: {steps} steps").format(
        names=" · ".join(visible(run.title, spaces=False) for run in runs), steps=steps
    )


def _curves(runs: list, quantities: Sequence[Quantity]) -> None:
    from plots.pretraining import CurvePanel, History, learning_curves

    histories = [History.of(run.title, run.events()) for run in runs]
    histories = [history for history in histories if history.points]
    if not histories:
        st.caption(_("The stories are being written …"))
        return
    panels = []
    for one in quantities:
        heights = {}
        if one.reference:
            metric, words = one.reference
            known = [history.last(f"held out: {metric}") for history in histories]
            heights = {f"{words}{_(': ')}{value:.0%}": value for value in known[:1] if value is not None}
        panels.append(
            CurvePanel(
                one.title, one.line, f"held out: {one.marks}" if one.marks else None, heights, percent=one.percent
            )
        )
    summary = _("; ").join(
        _("{run}: {values}").format(
            run=history.name,
            values=_(", ").join(
                f"{panel.title} {history.last(name):.3g}"
                for panel in panels
                for name in (panel.marks, panel.line)
                if name and history.last(name) is not None
            ),
        )
        for history in histories
    )
    fig = learning_curves(histories, panels, "tokens", _("tokens read"))
    fig.update_layout(showlegend=True)
    with st.container(key="wide-both"):
        figure(fig, _("Over the tokens read. Last: {told}.").format(told=summary), "both-curves")


def _answers(runs: list) -> None:
    """Each model's latest predictions for the user's sentence."""
    from plots.masking import Blank, expected_tokens

    panels = []
    for run in runs:
        sample = run.latest("sample")
        for blank in (sample["answers"][0]["blanks"] if sample and sample["answers"] else [])[:1]:
            tokens, shares = zip(*blank, strict=True)
            panels.append(Blank(run.title, [visible(token) for token in tokens], list(shares), {}, roles={}))
    if not panels:
        return
    summary = _(". ").join(map(bars_in_words, panels))
    with st.container(key="wide-both-answers"):
        figure(
            expected_tokens(panels, columns=2, title=_("What each would write into the blank"), axis=_("probability")),
            _("What each would write into the blank. {told}.").format(told=summary),
            "both-answers",
        )
    st.caption(
        _(
            "A masked language model’s shares add up to 1 over the vocabulary. A discriminator judges each word "
            "separately: its shares do not."
        )
        if any("electra" in run.kind for run in runs)
        else _("Shares of the whole vocabulary.")
    )
