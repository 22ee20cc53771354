"""The state of a training: its numbers, its curves, its predictions on the user's sentence."""

import math
from functools import partial

import streamlit as st

from sections.pretraining.trainings import WATCHED, Training
from ui.figures import figure
from ui.inputs import choice
from ui.predict import predict
from ui.text import literal
from ui.translations import _

PAIRS = ("nsp", "sop")  # objectives on segment pairs
LOW = 280  # pixels: height of the picture under its controls, in the first screen


def numbers(training: Training) -> None:
    """The current numbers of one run, each beside its reference value."""
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
    return {
        "mlm": "MLM",
        "next_token": _("Next token"),
        "nsp": "NSP",
        "sop": _("Sentence order"),
        "sbo": _("Span boundaries"),
        "names": _("Replaced names"),
        "rtd": _("Replaced tokens"),
        "plm": _("Permuted"),
        "token": _("Every token"),
    }


def main_question(shown: list[Training]) -> str:
    """The token objective of these runs: "mlm", unless none of them has it."""
    measured = {name for one in shown if (step := one.latest("step")) for name in step["parts"]}
    return next((kind for kind in ("mlm", "next_token", "plm") if f"{kind}_loss" in measured), "mlm")


def axes() -> dict[str, str]:
    return {"step": _("steps"), "seconds": _("seconds"), "tokens": _("tokens")}


def panels_of(shown: list[Training], histories: list, *, short: bool) -> list:
    """One panel per measured quantity. short: only the loss and, where they are known, the determined words, with
    shorter titles."""
    from plots.pretraining import CurvePanel

    quantities = {quantity for history in histories for quantity in history.points}
    measured = next((one.latest("eval")["metrics"] for one in shown if one.toy and one.latest("eval")), {})
    bounds = {f"ln V = {math.log(one.vocab_size):.2f}": math.log(one.vocab_size) for one in shown if one.vocab_size}
    main, names = main_question(shown), question_names()
    loss = f"{main}_loss"
    apart = f"held out: {loss}" in quantities and not short
    title = _("{kind} loss; with marks: on text kept apart") if apart else _("{kind} loss")
    panels = [CurvePanel(title.format(kind=names[main]), loss, f"held out: {loss}", bounds)]
    if measured:
        title = _("Determined words") if short else _("Determined ({share:.0%} without context)")
        title = title.format(share=measured["guessable"])
        neighbours = measured["guessable_from_neighbours"]
        words = _("neighbours: {share:.0%}") if short else _("from the two neighbours: {share:.0%}")
        guessed = {words.format(share=neighbours): neighbours}
        panels.append(CurvePanel(title, None, "held out: determined", guessed, percent=True))
    if short:
        return panels
    for kind, name in names.items():
        if kind in PAIRS and f"{kind}_loss" in quantities:
            guessing = {f"ln 2 = {math.log(2):.2f}": math.log(2)}
            panels.append(CurvePanel(_("{kind} loss").format(kind=name), f"{kind}_loss", None, guessing))
        if f"{kind}_accuracy" in quantities:
            right = f"{kind}_accuracy"
            panels.append(CurvePanel(_("{kind} accuracy").format(kind=name), right, f"held out: {right}", percent=True))
    panels += [CurvePanel(_("Learning rate"), "lr"), CurvePanel(_("Tokens per second"), "tokens_per_second")]
    return panels


def empty_stage(training: Training) -> None:
    """The axes of the loss, without its curve: where it begins is to be guessed."""
    from plots.pretraining import CurvePanel, learning_curves

    title = _("{kind} loss").format(kind=question_names()[main_question([training])])
    fig = learning_curves([], [CurvePanel(title)], "step", axes()["step"])
    fig.update_xaxes(range=[0, 1], showticklabels=False)
    fig.update_yaxes(range=[0, 10])
    figure(fig, _("Empty axes: the loss over the steps. Guess where it begins."), "cockpit-curves", height=LOW)


def draw_curves(shown: list[Training], *, short: bool = False) -> None:
    """short: only the most important panels, over the steps; else all, over an axis the user chooses."""
    from plots.pretraining import History, learning_curves

    histories = [History.of(training.name, training.events) for training in shown]
    panels, main = panels_of(shown, histories, short=short), main_question(shown)
    axis = "step" if short else choice("axis", _("Across"), axes())
    now = _("; ").join(
        _("{name}: {kind} loss {loss:.2f} after {steps:,} steps").format(
            name=one.name,
            kind=question_names()[main],
            loss=history.last(f"{main}_loss"),
            steps=one.latest("step")["step"],
        )
        for one, history in zip(shown, histories, strict=True)
        if history.last(f"{main}_loss") is not None
    )
    curves = partial(learning_curves, histories, panels, axis, axes()[axis])
    figure(
        curves if all(run.over for one in shown for run in one.runs) else curves(),  # what still grows is not cached
        _("Curves of pre-training over {axis}, a colour a run. Now: {now}.").format(axis=axes()[axis], now=now),
        "cockpit-curves" if short else "curves",
        title=now.split("; ")[0],
        height=LOW if short else None,
        wide=not short,
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
    if any(history.restarts for history in histories):
        st.caption(_("Dotted upright line: a restart; from there the learning rate rises and falls anew."))
    for history in () if short else histories:
        losses, shares = (history.points.get(f"{main}_{kind}") for kind in ("loss", "accuracy"))
        if losses and shares and losses[0][0] < shares[0][0]:
            part = 1 + sum(at < shares[0][0] for at in history.restarts)
            words = _("{name}: its accuracy was not recorded before part {part} of its training.")
            st.caption(words.format(name=literal(history.name), part=part))


def guessed(training: Training | None) -> bool:
    """Ask for the initial token loss of a recorded run; True if its curves may be shown."""
    steps = [event for event in training.events if event["event"] == "step"] if training else []
    if not steps or not training.vocab_size:
        return True
    main = main_question([training])
    first, size = steps[0]["parts"][f"{main}_loss"], training.vocab_size
    bounds = {"0": 0.0, f"ln 2 = {math.log(2):.2f}": math.log(2), f"ln {size:,} = {math.log(size):.2f}": math.log(size)}
    right = min(range(len(bounds)), key=lambda n: abs(first - [*bounds.values()][n]))
    question = _("{n:,} tokens in the vocabulary, and nothing learned yet: near which does the loss begin?").format(
        n=size
    )
    return predict("begins", question, [*bounds, f"{size:,}"], right, about=training.key)


def answers_so_far(training: Training) -> None:
    """The top predictions for the user's sentence, one row per evaluation."""
    text = st.session_state.get(WATCHED, "")
    samples = [
        (event["step"], answer["blanks"])
        for event in training.events
        if event["event"] == "sample"
        for answer in event["answers"]
        if answer["text"] == text and answer["blanks"]
    ]
    if not samples:
        st.caption(
            _("Here stands what the model puts at the first blank of your sentence, from measurement to measurement.")
        )
        return
    st.markdown(_("**At the first blank**, surest first"))
    rows = [
        {
            _("step"): f"{step:,}",
            **{
                str(place): f"{literal(token)} {probability:.0%}"
                for place, (token, probability) in enumerate(blanks[0][:3], 1)
            },
        }
        for step, blanks in thinned(samples, 6)
    ]
    with st.container(key="answers"):
        st.table(rows, border="horizontal")


def thinned(rows: list, most: int) -> list:
    """At most `most` rows, evenly spread, including the first and the last."""
    if len(rows) <= most:
        return rows
    return [rows[round(i * (len(rows) - 1) / (most - 1))] for i in range(most)]
