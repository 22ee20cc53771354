"""Large batches: AdamW and LAMB, recorded, and trained live with a batch size and a rate of the user's choice."""

import streamlit as st

from sections.training_options import grown
from sections.training_options.toy import name_of
from ui.figures import figure
from ui.lesson import Lesson
from ui.live_runs import follow_runs, newest_of_each
from ui.runs import manager, show_refusal, submit
from ui.source import show_source
from ui.translations import _

KIND = "nezha-batches"  # the `kind` of its runs
ROWS, TIMES = (8, 32, 128, 512, 2_048), (0.125, 0.25, 0.5, 1, 2, 4)
READ = (8_192, 16_384, 32_768)
NAMES = {"adamw": "AdamW", "lamb": "LAMB"}


def show(lesson: Lesson, text: str) -> None:
    """Independent of the text."""
    from minibert.toy.large_batches import scaled, warmup_of

    manager().warm_up()
    grown.over_batches()
    lesson.show("As the batch grows")
    lesson.show("What the batch costs")
    lesson.show("Fewer steps, larger ones")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        rows = slider(_("Rows a batch"), ROWS, 128, "batch-rows")
        read = slider(_("Rows read"), READ, 32_768, "rows-read")
        times = slider(_("Rate: times the rule’s"), TIMES, 1, "rate-times")
        if st.button(_("Train both"), type="primary", icon=":material/play_arrow:", key="train-batches"):
            begin(int(rows), int(read), float(times))
    show_refusal()
    hint = _(
        "**No run yet.** {steps:,} steps of {rows:,} rows each. AdamW and LAMB begin with the same weights and "
        "read the same rows in the same order."
    ).format(steps=read // rows, rows=rows)
    follow_runs(newest_of_each(KIND, NAMES), draw, hint, speed=step_and_rate)
    show_source(scaled, label=_("The rule for the rate"))
    show_source(warmup_of, label=_("The rule for the warm-up"))


def slider(label: str, values: tuple, usual: float, key: str):
    return st.select_slider(
        label, values, value=usual, format_func=lambda n: f"{n:,g}", key=key, bind="query-params", width=200
    )


def begin(rows: int, read: int, times: float) -> None:
    from minibert.toy.large_batches import RATES, BatchSettings

    for name, title in NAMES.items():
        settings = BatchSettings(name, rows, read, base_rate=times * RATES[name])
        words = _("{optimizer}, batches of {rows:,}")
        words = words if times == 1 else _("{optimizer}, batches of {rows:,}, rate × {x:g}")
        submit(
            "minibert.toy.large_batches:train_in_batches",
            settings,
            title=words.format(optimizer=title, rows=rows, x=times),
            kind=f"{KIND}/{name}",
        )


def step_and_rate(step: dict) -> str:
    return _(" · step {step:,} · rate {rate:.2g}").format(step=step["step"], rate=step["lr"])


def draw(runs: list) -> None:
    """Held-out loss and MLM accuracy by tokens read; below, the trust ratios by layer."""
    from plots.pretraining import CurvePanel, History, learning_curves
    from plots.training_options import layer_shares

    evaluations = {run.title: [event for event in run.events() if event["event"] == "eval"] for run in runs}
    if not any(evaluations.values()):
        st.caption(_("The stories are being written …"))
        return
    panels = [
        CurvePanel(_("Loss on stories not read"), None, "held out: loss"),
        CurvePanel(_("Hidden words ranked first"), None, "held out: right", percent=True),
    ]
    listed = _("; ").join(
        _("{run}: loss {loss:.2f}, {right:.0%} right").format(run=name, **events[-1]["metrics"])
        for name, events in evaluations.items()
        if events
    )
    histories = [History.of(run.title, run.events()) for run in reversed(runs)]  # reversed: LAMB in blue
    fig = learning_curves(histories, panels, "tokens", _("tokens read"))
    fig.update_layout(showlegend=True)
    figure(fig, _("Over the tokens read. Last: {told}.").format(told=listed), "batch-curves", wide=True)
    ratios = {name: events[-1]["details"]["ratios"] for name, events in evaluations.items() if events}
    ratios = {name: values for name, values in ratios.items() if values}
    if not ratios:
        return
    names = list(next(iter(ratios.values())))
    shown = {name: [values[one] for one in names] for name, values in ratios.items()}
    listed = _("; ").join(
        _("{run}: from {least:.2g} to {most:.2g}").format(run=name, least=min(values), most=max(values))
        for name, values in shown.items()
    )
    figure(
        layer_shares([name_of(one) for one in names], shown, _("trust ratio ‖w‖/‖u‖ of the last step"), percent=False),
        _(
            "The trust ratio of each matrix in the last step that was measured. LAMB multiplies its step by it; for "
            "AdamW it is only shown. {told}."
        ).format(told=listed),
        "trust-ratios",
        data=[
            {_("matrix"): name_of(one), **{name: f"{values[one]:.3g}" for name, values in ratios.items()}}
            for one in names
        ],
    )
