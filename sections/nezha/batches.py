"""Large batches: AdamW and LAMB trained now, at a batch of the reader's choice; and recorded as the batch grows."""

import statistics
import tomllib

import streamlit as st

from minibert.experiments.results import by_arm, paired_difference, verdict
from sections.nezha.layers import name_of
from sections.nezha.subject import Subject
from ui.claim import made_with, records_of, verdict_words
from ui.figures import figure
from ui.lesson import Lesson
from ui.runs import going, live, manager, own_runs, show_refusal, state_rows, submit
from ui.source import show_source
from ui.translations import _, ngettext

KIND, EXPERIMENT = "nezha-batches", "lamb"
ROWS, TIMES = (8, 32, 128, 512, 2_048), (0.125, 0.25, 0.5, 1, 2, 4)
READ = (8_192, 16_384, 32_768)
NAMES = {"adamw": "AdamW", "lamb": "LAMB"}


def show(lesson: Lesson, seen: Subject) -> None:
    from minibert.toy.large_batches import scaled, warmup_of

    manager().warm_up()
    lesson.show("Fewer steps, larger ones", title=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        rows = slider(_("Rows a batch"), ROWS, 128, "batch-rows")
        read = slider(_("Rows read"), READ, 16_384, "rows-read")
        times = slider(_("Rate: times the rule’s"), TIMES, 1, "rate-times")
        if st.button(_("Train both"), type="primary", icon=":material/play_arrow:", key="train-batches"):
            begin(int(rows), int(read), float(times))
    show_refusal()
    runs = newest()
    if runs:
        live(tuple(run.id for run in runs), draw, lambda found: state_rows(going(found), speed))
    else:
        st.markdown(
            _("**No run yet.** {steps:,} steps of {rows:,} rows each. AdamW and LAMB begin with the same weights and "
              "read the same rows in the same order.").format(steps=read // rows, rows=rows)
        )  # fmt: skip
    show_source(scaled, label=_("The rule for the rate"))
    show_source(warmup_of, label=_("The rule for the warm-up"))
    lesson.show("As the batch grows")
    recorded(lesson)
    lesson.show("What the batch costs")


def slider(label: str, values: tuple, usual: float, key: str):
    return st.select_slider(
        label, values, value=usual, format_func=lambda n: f"{n:,g}", key=key, bind="query-params", width=200
    )


def newest() -> list:
    """The last run of each optimizer, AdamW first: those begun together."""
    runs = {}
    for run in own_runs(KIND):
        runs.setdefault(run.kind.rpartition("/")[2], run)
    return [runs[name] for name in NAMES if name in runs]


def begin(rows: int, read: int, times: float) -> None:
    from minibert.toy.large_batches import RATES, BatchSettings

    for name, title in NAMES.items():
        settings = BatchSettings(name, rows, read, base_rate=times * RATES[name])
        words = _("{optimizer}, batches of {rows:,}")
        words = words if times == 1 else _("{optimizer}, batches of {rows:,}, rate × {x:g}")
        submit(
            "minibert.toy.large_batches:train_in_batches", settings,
            title=words.format(optimizer=title, rows=rows, x=times), kind=f"{KIND}/{name}",
        )  # fmt: skip


def speed(step: dict) -> str:
    return _(" · step {step:,} · rate {rate:.2g}").format(step=step["step"], rate=step["lr"])


def draw(runs: list) -> None:
    """Loss and hidden words put right over the rows that were read; below, the trust ratios by layer."""
    from plots.nezha import layer_shares
    from plots.pretraining import History, Panel, learning_curves

    marks = {run.title: [event for event in run.events() if event["event"] == "eval"] for run in runs}
    histories = [History.of(run.title, run.events()) for run in runs if marks[run.title]]
    if not histories:
        st.caption(_("The stories are being written …"))
        return
    panels = [
        Panel(_("Loss on stories not read"), None, "held out: loss"),
        Panel(_("Hidden words put first"), None, "held out: right", percent=True),
    ]
    told = "; ".join(
        _("{run}: loss {loss:.2f}, {right:.0%} right").format(run=name, **events[-1]["metrics"])
        for name, events in marks.items() if events
    )  # fmt: skip
    fig = learning_curves(histories, panels, "tokens", _("tokens read"))
    fig.update_layout(showlegend=True)
    figure(fig, _("Over the tokens read. Last: {told}.").format(told=told), "batch-curves", wide=True)
    ratios = {name: events[-1]["details"]["ratios"] for name, events in marks.items() if events}
    ratios = {name: values for name, values in ratios.items() if values}
    if not ratios:
        return
    names = list(next(iter(ratios.values())))
    shown = {name: [values[one] for one in names] for name, values in ratios.items()}
    told = "; ".join(
        _("{run}: from {least:.2g} to {most:.2g}").format(run=name, least=min(values), most=max(values))
        for name, values in shown.items()
    )
    figure(
        layer_shares([name_of(one) for one in names], shown, _("trust ratio ‖w‖/‖u‖ of the last step"), percent=False),
        _("The trust ratio of each matrix in the last step that was measured. LAMB multiplies its step by it; AdamW’s "
          "is only told. {told}.").format(told=told),
        "trust-ratios",
        data=[{_("matrix"): name_of(one), **{name: f"{values[one]:.3g}" for name, values in ratios.items()}}
              for one in names],
        wide=True,
    )  # fmt: skip


# --- recorded ---------------------------------------------------------------------------------------------------------


def recorded(lesson: Lesson) -> None:
    from plots.nezha import over_lengths

    records = records_of(EXPERIMENT)
    if not records:
        with st.container(border=True, key="no-results-lamb"):
            st.markdown(_("**No results of this experiment have been recorded here yet.** This makes them:"))
            st.code(f"python -m minibert experiment {EXPERIMENT} --seeds 3", "bash")
        return
    found, arms = losses(records), {}
    for arm, seeds in found.items():
        arms.setdefault(_title(arm), {})[rows_of(arm)] = list(seeds.values())
    table = [
        {
            _("optimizer"): name,
            **{f"{rows:,}": f"{statistics.fmean(some):.2f} ± {_spread(some):.2f}" for rows, some in points.items()},
        }
        for name, points in arms.items()
    ]
    told = "; ".join(
        f"{name}: {', '.join(f'{rows:,} {statistics.fmean(values):.2f}' for rows, values in points.items())}"
        for name, points in arms.items()
    )
    figure(
        over_lengths(arms, None, (_("rows a batch"), _("loss on stories not read, nats a word")), number=".2f"),
        _("The loss at the end, after as many rows, as the batch grows. {told}.").format(told=told),
        "batches-recorded",
        data=table,
        wide=True,
    )
    st.markdown("\n".join(f"- {line}" for line in verdicts(lesson, found)), width=820)
    last = records[-1]
    seeds = len({record["seed"] for record in records})
    st.caption(
        _("A dot a seed, mean and standard deviation, {n}. Every arm read {read:,} rows of at most 32 tokens. By the "
          "rule the rate is √(rows / 32) times the one that was best in batches of 32, where four a factor of 2 apart "
          "were tried of each optimizer. {processor}, torch {torch}, {date}. Made with: {command}").format(
            n=ngettext("{n} seed", "{n} seeds", seeds).format(n=seeds), read=last["scale"]["rows_read"],
            **made_with(last),
        )
    )  # fmt: skip


def losses(records: list[dict]) -> dict[str, dict[int, float]]:
    return by_arm(records, "loss")


def rows_of(arm: str) -> int:
    return int(arm.split("-")[1])


def _title(arm: str) -> str:
    optimizer, _rows, *how = arm.split("-")
    return _("{optimizer}, rate searched for anew").format(optimizer=NAMES[optimizer]) if how else NAMES[optimizer]


def _spread(values: list[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0


def verdicts(lesson: Lesson, found: dict[str, dict[int, float]]) -> list[str]:
    """Each direction of the paper beside ours, in words. A lower loss is better, so LAMB's gain is AdamW's loss less
    its own."""
    paper = tomllib.loads((lesson.folder / "paper.toml").read_text(encoding="utf-8"))["batches"]
    lines = []
    for one in paper:
        gain = paired_difference(found.get(one["base"], {}), found.get(one["arm"], {}))
        if gain is None:
            here, said = _("no seed in common here"), verdict(None, one.get("sign"))
        else:
            spread = "" if gain.half is None else f" ± {gain.half:.2f}"
            here = _("{mean:+.2f}{spread} nats here, over {n}").format(
                mean=gain.mean, spread=spread, n=ngettext("{n} seed", "{n} seeds", gain.seeds).format(n=gain.seeds)
            )
            said = verdict(gain, one.get("sign"))
        lines.append(
            _("{question}: {source}; {here} – **{verdict}**").format(
                question=one["question"], source=one["source"], here=here.replace("-", "−"),
                verdict=verdict_words()[said],
            )
        )  # fmt: skip
    return lines
